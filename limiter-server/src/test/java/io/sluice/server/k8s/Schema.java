package io.sluice.server.k8s;

import com.google.gson.JsonElement;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import io.kubernetes.client.custom.QuantityFormatException;
import io.kubernetes.client.openapi.JSON;
import java.lang.reflect.InvocationTargetException;
import java.util.Locale;
import java.util.Optional;

/** Holds objects against Kubernetes' own models: unknown fields, wrong types, bad quantities, what is missing. */
final class Schema {
    private static final String MODELS = "io.kubernetes.client.openapi.models.";

    private Schema() {}

    /** What is wrong with it, if anything. */
    static Optional<String> fault(Manifest manifest) {
        Class<?> model;
        try {
            model = model(manifest);
        } catch (ClassNotFoundException e) {
            return Optional.of(manifest + ": Kubernetes has no such kind: " + e.getMessage());
        }
        JsonElement json = JsonParser.parseString(manifest.json().toString());
        try {
            model.getMethod("validateJsonElement", JsonElement.class).invoke(null, json);
            // Reads what the check passes over: quantities, instants.
            Object unused = JSON.deserialize(json.toString(), model);
            return Optional.empty();
        } catch (InvocationTargetException e) {
            return Optional.of(manifest + ": " + e.getCause().getMessage());
        } catch (JsonParseException | IllegalArgumentException | QuantityFormatException e) {
            return Optional.of(manifest + ": " + e.getMessage());
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("the models have changed", e);
        }
    }

    /** {@code apps/v1, Deployment} is {@code V1Deployment}. */
    private static Class<?> model(Manifest manifest) throws ClassNotFoundException {
        String apiVersion = manifest.json().path("apiVersion").asString("");
        String version = apiVersion.substring(apiVersion.indexOf('/') + 1);
        if (version.isEmpty()) {
            throw new ClassNotFoundException("no apiVersion");
        }
        return Class.forName(
                MODELS + version.substring(0, 1).toUpperCase(Locale.ROOT) + version.substring(1) + manifest.kind());
    }
}
