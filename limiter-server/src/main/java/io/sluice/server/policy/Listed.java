package io.sluice.server.policy;

import org.jspecify.annotations.Nullable;

/** A project, its version in force, and the file that owns it. */
record Listed(String project, long version, @Nullable String managedByFile) {}
