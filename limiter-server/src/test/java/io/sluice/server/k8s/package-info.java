/** Whether what stands in {@code k8s/} is what Kubernetes takes, holds together, and is as closed as it says. */
package io.sluice.server.k8s;
