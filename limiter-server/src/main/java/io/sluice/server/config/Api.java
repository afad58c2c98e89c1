package io.sluice.server.config;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import io.swagger.v3.core.jackson.ModelResolver;
import io.swagger.v3.oas.models.Components;
import io.swagger.v3.oas.models.OpenAPI;
import io.swagger.v3.oas.models.info.Info;
import io.swagger.v3.oas.models.security.SecurityRequirement;
import io.swagger.v3.oas.models.security.SecurityScheme;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The description of the API at {@code /v3/api-docs}, with members named as they are sent. */
@Configuration(proxyBeanMethods = false)
class Api {

    @Bean
    OpenAPI description() {
        String implementation = Api.class.getPackage().getImplementationVersion();
        return new OpenAPI()
                .info(new Info()
                        .title("Sluice")
                        .version(implementation == null ? "development" : implementation)
                        .description(
                                "One shared budget for a whole fleet of LLM agents. Every no is problem+json whose type "
                                        + "ends in its kind."))
                .components(new Components()
                        .addSecuritySchemes(
                                "token",
                                new SecurityScheme()
                                        .type(SecurityScheme.Type.HTTP)
                                        .scheme("bearer")))
                .addSecurityItem(new SecurityRequirement().addList("token"));
    }

    /** The document is made with Jackson 2, which knows nothing of how our Jackson 3 names things. */
    @Bean
    ModelResolver names() {
        return new ModelResolver(new ObjectMapper().setPropertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE));
    }
}
