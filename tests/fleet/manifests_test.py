"""deploy/kubernetes holds what the schemas of Kubernetes' API allow, and no other field.

Usage: manifests_test.py
Needs the schemas, which tests/fleet/fetch.sh kubernetes gets; skips without.
"""

import copy
import gzip
import json
import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CACHE = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
SCHEMAS = pathlib.Path(CACHE, "heaprec/kubernetes.json.gz")

# Members of maps, like labels, which have a slash; and what says which schema it is.
ANY_NAME, CHOOSES_SCHEMA = ("password", "cpu", "memory"), ("apiVersion", "kind")


def strict_definitions():
    """The API's definitions; objects with known fields have no others."""
    definitions = json.loads(gzip.decompress(SCHEMAS.read_bytes()))["definitions"]
    for schema in definitions.values():
        if "properties" in schema:
            schema.update(type="object", additionalProperties=False)
    # YAML has numbers where Kubernetes takes texts like 64Mi, or either.
    definitions["io.k8s.apimachinery.pkg.api.resource.Quantity"] = {"type": ["string", "number"]}
    definitions["io.k8s.apimachinery.pkg.util.intstr.IntOrString"] = {"type": ["string", "integer"]}
    return definitions


def complaints(document, definitions):
    """What is wrong with a manifest, as paths of fields."""
    import jsonschema
    group, _, version = document["apiVersion"].rpartition("/")
    kind = {"group": group, "version": version, "kind": document["kind"]}
    name = next(name for name, schema in definitions.items() if kind in schema.get("x-kubernetes-group-version-kind", []))
    validator = jsonschema.Draft7Validator({"$ref": f"#/definitions/{name}", "definitions": definitions})
    return [f"{'.'.join(map(str, error.absolute_path))}: {error.message[:200]}" for error in validator.iter_errors(document)]


def fields(value):
    """Every object in a manifest, with each of its fields."""
    if isinstance(value, dict):
        for key, below in value.items():
            yield value, key
            yield from fields(below)
    elif isinstance(value, list):
        for below in value:
            yield from fields(below)


def mutants(document):
    """The manifest with one field misspelled, or of another type, at a time."""
    for number, (_, key) in enumerate(fields(document)):
        for change in ("misspelled", "of another type"):
            mutant = copy.deepcopy(document)
            parent = list(fields(mutant))[number][0]
            if change == "misspelled":
                parent[key + "z"] = parent.pop(key)
            else:
                parent[key] = [["wrong"]]
            yield change, key, mutant


def test():
    import yaml
    definitions = strict_definitions()
    found = refused = 0
    for path in sorted((ROOT / "deploy/kubernetes").glob("*.yaml")):
        for document in yaml.safe_load_all(path.read_text()):
            wrong = complaints(document, definitions)
            assert not wrong, f"{path.name}, {document['kind']}: {wrong}"
            found += 1
            for change, key, mutant in mutants(document):
                if "/" in key or key in ANY_NAME or key in CHOOSES_SCHEMA:
                    continue
                assert complaints(mutant, definitions), f"{path.name}: {key} {change} is not noticed"
                refused += 1
    assert found == 4 and refused > 100, (found, refused)
    print(f"{found} manifests are valid; {refused} with one wrong field are not")


def main():
    if not SCHEMAS.exists():
        print(f"skipped: no {SCHEMAS} (tests/fleet/fetch.sh kubernetes)")
        return
    test()
    print("passed")


main()
