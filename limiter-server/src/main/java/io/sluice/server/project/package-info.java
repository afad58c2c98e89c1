/** What a project is doing: status, usage, events, advice, holds, levels, metrics. */
@NullMarked
package io.sluice.server.project;

import org.jspecify.annotations.NullMarked;
