"""Writes documents that are wrong about GET /api/datasets/{id}, each in one way."""

import copy
import json
import sys

path = sys.argv[1]
with open(path) as f:
    document = json.load(f)


def write(name, change):
    lie = copy.deepcopy(document)
    change(lie)
    with open(f"{path}.{name}", "w") as f:
        json.dump(lie, f)


def get(doc):
    return doc["paths"]["/api/datasets/{id}"]["get"]


def body(doc):
    doc["components"]["schemas"]["Dataset"]["properties"]["name"]["type"] = "integer"


def status(doc):
    get(doc)["responses"]["203"] = get(doc)["responses"].pop("200")


def header(doc):
    get(doc)["responses"]["200"]["headers"]["X-Promise"] = {"required": True, "schema": {"type": "string"}, "description": "Never sent."}


write("body", body)
write("status", status)
write("header", header)
