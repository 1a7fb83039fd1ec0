"""Checks the Kubernetes manifests: builds the example and the base with each selection of components, compares each
document with its schema, and checks that names, labels and ports of the documents agree with each other.

Kubernetes' own kinds are compared with its strict JSON schemas, the kinds of KEDA and of the Prometheus operator with
models that are made from their schemas. No package has the schemas of CloudNativePG, so of its kinds only the names are
checked.
"""

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import kubernetes_validate
import yaml
from cloudcoil.models.keda import v1alpha1 as keda
from cloudcoil.models.prometheus_operator import v1 as prometheus_operator
from problems import DEPLOY, Problems, default, documents, settings

Document = dict[str, Any]

KUBERNETES = DEPLOY / "kubernetes"

SCHEMA_VERSION = "1.37"
MODELS = {
    "ScaledObject": keda.ScaledObject,
    "TriggerAuthentication": keda.TriggerAuthentication,
    "PodMonitor": prometheus_operator.PodMonitor,
    "PrometheusRule": prometheus_operator.PrometheusRule,
}
WITHOUT_SCHEMA = {"Cluster", "ScheduledBackup", "ObjectStore"}
KUBECTL = Path(sys.executable).parent / "kubectl"
# The operator of CloudNativePG makes this secret, cert-manager the other one, and the operator of Akhar the third.
SECRETS_FROM_OUTSIDE = {"akhar-postgres-app", "akhar-tls", "akhar-backups"}


def check(problems: Problems) -> None:
    """Checks every overlay: the example, and the base with each selection of components."""
    components = []
    for path in sorted(KUBERNETES.glob("*/kustomization.yaml")):
        kustomization = yaml.safe_load(path.read_text())
        check_patches(problems, path.parent.name, kustomization)
        if kustomization["kind"] == "Component":
            components.append(path.parent)
        else:
            check_overlay(problems, path.parent.name, path.parent)
    for n in range(1, len(components) + 1):
        for chosen in combinations(components, n):
            with tempfile.TemporaryDirectory() as name:
                here = Path(name).resolve()
                overlay = {
                    "resources": [os.path.relpath(KUBERNETES / "base", here)],
                    "components": [os.path.relpath(component, here) for component in chosen],
                }
                (here / "kustomization.yaml").write_text(yaml.safe_dump(overlay))
                check_overlay(problems, " + ".join(["base", *(component.name for component in chosen)]), here)


def check_patches(problems: Problems, name: str, kustomization: Document) -> None:
    """Whether all patches name what they change. A JSON patch counts places in lists, which other changes move."""
    for patch in kustomization.get("patches", []):
        is_merge = isinstance(yaml.safe_load(patch.get("patch", "")), dict)
        problems.expect(is_merge, f"kubernetes/{name}: a patch is no merge: {patch}")
    fields = {"patchesJson6902", "patchesStrategicMerge"} & set(kustomization)
    problems.expect(not fields, f"kubernetes/{name}: write {fields} as patches")


def check_overlay(problems: Problems, what: str, folder: Path) -> None:
    """Builds one overlay, and checks its documents."""
    others = Problems()
    found = documents(others.run([KUBECTL, "kustomize", folder], "kustomize"))
    names = [(document["kind"], document["metadata"]["name"]) for document in found]
    others.expect(len(names) == len(set(names)), f"documents have the same name: {names}")
    for document in found:
        others.lines.extend(schema_problems(json.dumps(document)))
    References(others, found).check()
    for document in found:
        for pod in pods(document):
            check_pod(others, document, pod)
    problems.lines.extend(f"kubernetes, {what}: {line}" for line in others.lines)


def name(document: Document) -> str:
    """How a document is named in a problem."""
    return f"{document['kind']} {document['metadata']['name']}"


@cache
def schema_problems(text: str) -> list[str]:
    """Compares one document, as JSON, with the schema of its kind."""
    document = json.loads(text)
    kind = document["kind"]
    if kind in WITHOUT_SCHEMA:
        return []
    if model := MODELS.get(kind):
        try:
            read = model.model_validate(document)
        except ValueError as error:
            return [f"{name(document)}: {error}"]
        known = read.model_dump(by_alias=True, exclude_unset=True, mode="json")
        return [f"{name(document)}: unknown field {path}" for path in unknown(document, known)]
    try:
        kubernetes_validate.validate(document, SCHEMA_VERSION, strict=True)
    except kubernetes_validate.ValidationError as error:
        # The rest of the text is the whole schema.
        return [f"{name(document)}: {str(error).splitlines()[0]}"]
    return []


def unknown(written: Any, known: Any, path: str = "") -> Iterator[str]:
    """The paths of fields that were written and that the model dropped."""
    if isinstance(written, dict) and isinstance(known, dict):
        for key, value in written.items():
            if key not in known:
                yield f"{path}.{key}"
            else:
                yield from unknown(value, known[key], f"{path}.{key}")
    elif isinstance(written, list) and isinstance(known, list):
        for index, (value, other) in enumerate(zip(written, known, strict=True)):
            yield from unknown(value, other, f"{path}[{index}]")


def pods(document: Document) -> Iterator[Document]:
    """The template of the pods that a document makes."""
    if document["kind"] in {"Deployment", "Job"}:
        yield document["spec"]["template"]


def selects(selector: Document, labels: dict[str, str]) -> bool:
    """Whether a selector matches labels."""
    return all(labels.get(key) == value for key, value in selector.get("matchLabels", selector).items())


class References:
    """Checks whether what one document names is there."""

    def __init__(self, problems: Problems, found: list[Document]) -> None:
        self.problems = problems
        self.found = found
        self.templates = [pod for document in found for pod in pods(document)]
        # The pods of Postgres, which its operator makes, here or in an overlay of the reader.
        clusters = [cluster["metadata"]["name"] for cluster in self.of("Cluster")] or ["akhar-postgres"]
        self.instances = [{"metadata": {"labels": {"cnpg.io/cluster": name}}, "spec": {}} for name in clusters]

    def of(self, kind: str) -> list[Document]:
        """The documents of a kind."""
        return [document for document in self.found if document["kind"] == kind]

    def expect(self, document: Document, kind: str, wanted: str) -> None:
        """A document of a kind with this name must be there."""
        names = {found["metadata"]["name"] for found in self.of(kind)}
        self.problems.expect(wanted in names, f"{name(document)}: there is no {kind} {wanted}")

    def selected(self, document: Document, selector: Document) -> list[Document]:
        """The pods that a document selects. There must be one."""
        pods = self.templates + self.instances
        matching = [pod for pod in pods if selects(selector, pod["metadata"]["labels"])]
        self.problems.expect(bool(matching), f"{name(document)}: no pod has the labels {selector}")
        return matching

    def expect_port(self, document: Document, matching: list[Document], port: int | str) -> None:
        """One of the pods must have a port of this name. Numbers are not checked."""
        names = {
            p.get("name") for pod in matching for c in pod["spec"].get("containers", []) for p in c.get("ports", [])
        }
        self.problems.expect(
            not isinstance(port, str) or port in names, f"{name(document)}: no pod has the port {port}"
        )

    def check(self) -> None:
        """Checks all documents."""
        for service in self.of("Service"):
            matching = self.selected(service, service["spec"]["selector"])
            for port in service["spec"]["ports"]:
                self.expect_port(service, matching, port["targetPort"])
        for kind in ("Deployment", "PodDisruptionBudget", "PodMonitor"):
            for document in self.of(kind):
                matching = self.selected(document, document["spec"]["selector"])
                for endpoint in document["spec"].get("podMetricsEndpoints", []):
                    self.expect_port(document, matching, endpoint["port"])
        for policy in self.of("NetworkPolicy"):
            self.check_policy(policy)
        for scaled in self.of("ScaledObject"):
            self.check_scaling(scaled)
        for document in self.found:
            for pod in pods(document):
                self.check_template(document, pod["spec"])
        self.check_others()

    def check_policy(self, policy: Document) -> None:
        """Checks the pods and ports of a network policy."""
        matching = self.selected(policy, policy["spec"]["podSelector"])
        incoming, outgoing = policy["spec"].get("ingress", []), policy["spec"].get("egress", [])
        for port in (port for rule in incoming for port in rule.get("ports", [])):
            self.expect_port(policy, matching, port["port"])
        for peer in (peer for rule in incoming + outgoing for peer in rule.get("from", []) + rule.get("to", [])):
            if "podSelector" in peer and "namespaceSelector" not in peer:
                self.selected(policy, peer["podSelector"])

    def check_scaling(self, scaled: Document) -> None:
        """Checks what KEDA scales."""
        target = scaled["spec"]["scaleTargetRef"]["name"]
        self.expect(scaled, "Deployment", target)
        for deployment in self.of("Deployment"):
            is_free = deployment["metadata"]["name"] != target or "replicas" not in deployment["spec"]
            self.problems.expect(is_free, f"{name(deployment)}: has replicas, but KEDA sets their number")
        for trigger in scaled["spec"]["triggers"]:
            self.expect(scaled, "TriggerAuthentication", trigger["authenticationRef"]["name"])
        for reference in self.of("TriggerAuthentication"):
            for secret in reference["spec"]["secretTargetRef"]:
                is_made = secret["name"] in SECRETS_FROM_OUTSIDE
                self.problems.expect(is_made, f"{name(reference)}: nothing makes the secret {secret['name']}")

    def check_template(self, document: Document, spec: Document) -> None:
        """Checks what pods use."""
        self.expect(document, "ServiceAccount", spec["serviceAccountName"])
        for source in (source for container in spec["containers"] for source in container.get("envFrom", [])):
            self.expect(document, "ConfigMap", source["configMapRef"]["name"])

    def check_others(self) -> None:
        """Checks ingresses, backups and settings."""
        for ingress in self.of("Ingress"):
            for path in (path for rule in ingress["spec"]["rules"] for path in rule["http"]["paths"]):
                self.expect(ingress, "Service", path["backend"]["service"]["name"])
        for backup in self.of("ScheduledBackup"):
            self.expect(backup, "Cluster", backup["spec"]["cluster"]["name"])
        for cluster in self.of("Cluster"):
            for plugin in cluster["spec"]["plugins"]:
                self.expect(cluster, "ObjectStore", plugin["parameters"]["barmanObjectName"])
        for config in self.of("ConfigMap"):
            unknown_names = set(config["data"]) - settings()
            line = f"{name(config)}: no settings of Akhar: {sorted(unknown_names)}"
            self.problems.expect(not unknown_names, line)


def check_pod(problems: Problems, document: Document, pod: Document) -> None:
    """Whether pods have no rights that they do not need, are probed, and are stopped in time."""
    spec = pod["spec"]
    problems.expect(spec["automountServiceAccountToken"] is False, f"{name(document)}: has a token of Kubernetes")
    security = spec["securityContext"]
    problems.expect(security["runAsNonRoot"] and security["runAsUser"] > 0, f"{name(document)}: runs as root")
    volumes = {volume["name"]: volume for volume in spec.get("volumes", [])}
    for volume in volumes.values():
        if "emptyDir" in volume:
            continue
        secret = volume.get("secret", {}).get("secretName")
        problems.expect(secret in SECRETS_FROM_OUTSIDE, f"{name(document)}: nothing makes the secret {secret}")
    for container in spec["containers"]:
        rights = container["securityContext"]
        is_bare = rights["readOnlyRootFilesystem"] and not rights["allowPrivilegeEscalation"]
        problems.expect(is_bare and rights["capabilities"]["drop"] == ["ALL"], f"{name(document)}: has rights")
        problems.expect("memory" in container["resources"]["limits"], f"{name(document)}: has no memory limit")
        for mount in container["volumeMounts"]:
            problems.expect(mount["name"] in volumes, f"{name(document)}: mounts unknown {mount['name']}")
        unknown_names = {variable["name"] for variable in container.get("env", [])} - settings()
        problems.expect(not unknown_names, f"{name(document)}: no settings of Akhar: {sorted(unknown_names)}")
        if document["kind"] == "Deployment":
            check_life(problems, document, spec, container)


def check_life(problems: Problems, document: Document, spec: Document, container: Document) -> None:
    """Whether a container is probed, and has enough time to stop."""
    missing = {"startupProbe", "livenessProbe"} - set(container)
    problems.expect(not missing, f"{name(document)}: has no {missing}")
    ports = {port["name"] for port in container["ports"]}
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        port = container.get(probe, {}).get("httpGet", {}).get("port")
        problems.expect(port is None or port in ports, f"{name(document)}: {probe} has an unknown port {port}")
    drain = [int(variable["value"]) for variable in container["env"] if variable["name"] == "AKHAR_DRAIN_S"]
    needed = sum(drain) + default("AKHAR_SHUTDOWN_S")
    grace = spec["terminationGracePeriodSeconds"]
    problems.expect(grace > needed, f"{name(document)}: is killed after {grace} s, but needs {needed} s to stop")
