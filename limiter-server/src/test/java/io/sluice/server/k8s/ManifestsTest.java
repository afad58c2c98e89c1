package io.sluice.server.k8s;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.abort;

import io.sluice.InvalidPolicyException;
import io.sluice.Policy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

class ManifestsTest {
    private static final Path K8S = Path.of("..", "k8s");
    private static final Path DEPLOYMENT = K8S.resolve("base/deployment.yaml");
    private static final Path JOB = K8S.resolve("examples/job.yaml");
    private static final YAMLMapper YAML = new YAMLMapper();

    private final List<Manifest> all = Manifest.under(K8S);

    @Test
    void everyObjectIsWhatKubernetesTakes() {
        assertThat(all).hasSizeGreaterThanOrEqualTo(12);
        assertThat(all.stream().map(Schema::fault).flatMap(Optional::stream)).isEmpty();
    }

    @Test
    void aFileHoldsOneObject() {
        assertThat(all.stream().map(Manifest::source)).doesNotHaveDuplicates();
    }

    @Test
    void everyPodMayNoMoreThanItNeeds() {
        assertThat(all.stream().filter(manifest -> !manifest.podTemplate().isMissingNode()))
                .extracting(Manifest::kind)
                .containsExactlyInAnyOrder("Deployment", "StatefulSet", "Job");
        assertThat(all.stream().flatMap(manifest -> Closed.faults(manifest).stream()))
                .isEmpty();
    }

    @Test
    void whatIsNamedIsThere() {
        assertThat(References.faults(all)).isEmpty();
    }

    @Test
    void everyPolicyOfTheConfigMapIsOne() {
        List<String> projects = policies(all).map(policy -> policy.project()).toList();
        assertThat(projects).contains("acme-prod");
    }

    @Test
    void kustomizeIsToldOfEveryFile() throws IOException {
        for (String directory : List.of("base", "redis", "overlays/dev")) {
            JsonNode kustomization = YAML.readTree(Manifest.text(K8S.resolve(directory + "/kustomization.yaml")));
            TreeSet<String> told = new TreeSet<>();
            kustomization.path("resources").forEach(file -> told.add(file.asString()));
            kustomization
                    .path("patches")
                    .forEach(patch -> told.add(patch.path("path").asString()));
            told.removeIf(file -> file.startsWith(".."));
            try (Stream<Path> files = Files.list(K8S.resolve(directory))) {
                assertThat(files.map(file -> file.getFileName().toString())
                                .filter(name -> !name.equals("kustomization.yaml")))
                        .as(directory)
                        .containsExactlyInAnyOrderElementsOf(told);
            }
        }
    }

    /** The rules of docs/operations.md are tested where they stand; these are the same for all projects. */
    @Test
    void theUsersOfRedisAreThoseOfTheDocs() {
        String docs = Manifest.text(Path.of("..", "docs", "operations.md"));
        String acl = manifest(K8S.resolve("overlays/dev/secret-redis.yaml"))
                .json()
                .at("/stringData/users.acl")
                .asString();
        Matcher documented = Pattern.compile("ACL SETUSER (\\w+) reset on >SECRET ((?:.*\\\\\n)*.*)\n")
                .matcher(docs);
        List<String> users = new ArrayList<>();
        while (documented.find()) {
            String name = documented.group(1).replace("platform", "server");
            users.add("user " + name + " on >dev-" + name + " "
                    + documented.group(2).replaceAll("[\\s\\\\]+", " ").replace("{acme-prod}", "{*}"));
        }
        assertThat(users).hasSize(3);
        assertThat(acl.lines().skip(1)).containsExactlyInAnyOrderElementsOf(users);
    }

    @Test
    void theJobsPodsDrawOnAProjectThatIsInstalled() {
        JsonNode variables = manifest(JOB).podTemplate().at("/spec/containers/0/env");
        Optional<String> project = variables
                .valueStream()
                .filter(variable -> variable.path("name").asString().equals("SLUICE_PROJECT"))
                .map(variable -> variable.path("value").asString())
                .findFirst();
        assertThat(project).isPresent();
        assertThat(policies(all).map(policy -> policy.project())).contains(project.get());
    }

    @Test
    void theServersPodsAreReadyAndAliveByDifferentQuestions() {
        JsonNode server = manifest(DEPLOYMENT).podTemplate().at("/spec/containers/0");
        assertThat(server.at("/readinessProbe/httpGet/path").asString()).isEqualTo("/actuator/health/readiness");
        assertThat(server.at("/livenessProbe/httpGet/path").asString()).isEqualTo("/actuator/health/liveness");
        assertThat(manifest(DEPLOYMENT).json().at("/spec/replicas").asInt()).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"base", "redis", "overlays/dev"})
    void kustomizeRendersWhatHoldsToo(String directory) throws IOException, InterruptedException {
        if (!Kubectl.isHere()) {
            skip("no kubectl here: the plain files are checked, what kustomize makes of them is not");
        }
        List<Manifest> rendered = Manifest.read(directory, Kubectl.kustomize(K8S.resolve(directory)));
        assertThat(rendered).isNotEmpty();
        assertThat(rendered.stream().map(Schema::fault).flatMap(Optional::stream))
                .isEmpty();
        assertThat(rendered.stream().flatMap(manifest -> Closed.faults(manifest).stream()))
                .isEmpty();
        rendered.forEach(manifest -> manifest.podTemplate()
                .path("spec")
                .path("containers")
                .forEach(container -> assertThat(container.path("image").asString())
                        .as("an image without a version changes by itself")
                        .matches(".+:[^:]*[0-9].*")));
        if (directory.startsWith("overlays")) {
            assertThat(References.faults(rendered)).isEmpty();
            assertThat(policies(rendered)).isNotEmpty();
        }
    }

    // What the checks find.

    @ParameterizedTest(name = "{2}")
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "replicas: 2          | replica: 2                | replica",
                "replicas: 2          | replicas: two             | For input string: \"two\"",
                "containerPort: 8080  | containerPort: http       | For input string: \"http\"",
                "memory: 512Mi        | memory: 512Mb             | suffix",
                "cpu: 500m            | cpu: half                 | half",
                "- name: server       | - image2: server          | image2",
                "apiVersion: apps/v1  | apiVersion: apps/v7       | V7Deployment",
                "selector:            | selektor:                 | selektor",
            })
    void aFaultOfTheDeploymentIsFound(String good, String bad, String named) {
        assertThat(Schema.fault(changed(DEPLOYMENT, good, bad)))
                .hasValueSatisfying(fault -> assertThat(fault).contains(named));
    }

    @Test
    void aKeyThatStandsTwiceIsFound() {
        String twice = Manifest.text(DEPLOYMENT).replace("  replicas: 2\n", "  replicas: 2\n  replicas: 3\n");
        assertThatThrownBy(() -> Manifest.read("twice", twice))
                .isInstanceOf(JacksonException.class)
                .hasMessageContaining("replicas");
    }

    @ParameterizedTest(name = "{2}")
    @CsvSource(
            delimiter = '|',
            value = {
                "runAsNonRoot: true              | runAsNonRoot: false             | runs as root",
                "readOnlyRootFilesystem: true    | readOnlyRootFilesystem: false   | may write to its image",
                "allowPrivilegeEscalation: false | allowPrivilegeEscalation: true  | may become root",
                "drop: [ALL]                     | drop: [NET_RAW]                 | keeps capabilities",
                "type: RuntimeDefault            | type: Unconfined                | no seccomp profile",
                "enableServiceLinks: false       | enableServiceLinks: true        | SLUICE_* variables",
                "automountServiceAccountToken: false | automountServiceAccountToken: true | token of Kubernetes",
            })
    void anOpenDoorIsFound(String good, String bad, String told) {
        assertThat(Closed.faults(changed(DEPLOYMENT, good, bad)))
                .singleElement()
                .asString()
                .contains(told);
    }

    @ParameterizedTest(name = "{2}")
    @CsvSource(
            delimiter = '|',
            value = {
                "key: server-password      | key: password             | no password in Secret sluice-redis",
                "secretName: sluice-tokens | secretName: tokens        | no Secret tokens",
                "name: sluice-policies     | name: policies            | no ConfigMap policies",
                "- name: tmp               | - name: temp              | no volume",
                "port: http                | port: web                 | no container has a port web",
            })
    void aNameOfNothingIsFound(String good, String bad, String told) {
        Manifest broken = changed(DEPLOYMENT, good, bad);
        List<Manifest> others = Stream.concat(
                        Stream.of(broken),
                        all.stream().filter(manifest -> !manifest.source().equals("base/deployment.yaml")))
                .toList();
        assertThat(References.faults(others))
                .anySatisfy(fault -> assertThat(fault).contains(told));
    }

    @Test
    void aPolicyThatIsNoneIsFound() {
        Manifest broken = changed(K8S.resolve("base/configmap.yaml"), "rpm: 4000", "rpm: many");
        assertThatThrownBy(() -> policies(List.of(broken)).toList())
                .isInstanceOf(InvalidPolicyException.class)
                .hasMessageContaining("rpm");
    }

    /** The policies of all config maps of the server; each file is named for its project. */
    private static Stream<Policy> policies(List<Manifest> manifests) {
        return manifests.stream()
                .filter(manifest -> manifest.name().equals("sluice-policies"))
                .flatMap(manifest -> manifest.json().path("data").propertyStream())
                .map(file -> {
                    Policy policy = Policy.parse(file.getValue().asString());
                    assertThat(file.getKey()).isEqualTo(policy.project() + ".yaml");
                    return policy;
                });
    }

    private static Manifest changed(Path file, String good, String bad) {
        String text = Manifest.text(file);
        assertThat(text).as("what is to be broken").contains(good.strip());
        return Manifest.read(file.toString(), text.replaceFirst(Pattern.quote(good.strip()), bad.strip()))
                .get(0);
    }

    private static Manifest manifest(Path file) {
        return Manifest.read(file.toString(), Manifest.text(file)).get(0);
    }

    private static void skip(String why) {
        System.err.println("skipped: " + why);
        abort(why);
    }
}
