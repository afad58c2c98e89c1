package io.sluice.provider;

import io.sluice.Rejection.Scope;

/**
 * How far a refusal reaches, in the provider's terms and in ours. An organisation's or account's model pool is a class;
 * the organisation, account or key itself is the project.
 */
record Pause(String text, Scope scope) {
    static final Pause REQUEST = new Pause("request", Scope.REQUEST);
    static final Pause CALLER = new Pause("caller", Scope.CALLER);
    static final Pause PROVIDER_MODEL = new Pause("provider+model", Scope.CLASS);

    static final Pause ORG = new Pause("org", Scope.PROJECT);
    static final Pause ORG_MODEL = new Pause("org+model", Scope.CLASS);
    static final Pause ORG_FAST_POOL = new Pause("org+fast-pool", Scope.CLASS);
    static final Pause WORKSPACE = new Pause("workspace", Scope.PROJECT);
    static final Pause WORKSPACE_MODEL = new Pause("workspace+model", Scope.CLASS);
    static final Pause SUBSCRIPTION = new Pause("subscription account", Scope.PROJECT);

    static final Pause PROJECT = new Pause("project", Scope.PROJECT);
    static final Pause PROJECT_MODEL = new Pause("project+model", Scope.CLASS);
    static final Pause FLEX = new Pause("model+service_tier=flex", Scope.CLASS);
    static final Pause BATCH_QUEUE = new Pause("org+model batch queue", Scope.CLASS);

    static final Pause ALL_MODELS = new Pause("project, all models (billing account if known)", Scope.PROJECT);
    static final Pause BILLING = new Pause("billing account / project", Scope.PROJECT);
    static final Pause USER_MODEL = new Pause("user+model", Scope.CLASS);

    static final Pause ACCOUNT = new Pause("account", Scope.PROJECT);
    static final Pause ACCOUNT_MODEL = new Pause("account+model", Scope.CLASS);
    static final Pause FREE_MODELS = new Pause("account+free models", Scope.CLASS);
    static final Pause KEY = new Pause("key", Scope.PROJECT);
}
