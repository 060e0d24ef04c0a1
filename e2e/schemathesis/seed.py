"""Makes one object of each kind and prints the Schemathesis configuration that
puts their ids into paths, so that requests meet more than 404."""

import json
import os
import time
import urllib.request

URL, KEY = os.environ["SERVICE_URL"], os.environ["SERVICE_API_KEY"]


def call(method, path, body=None):
    request = urllib.request.Request(
        URL + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": "Bearer " + KEY, "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def operations(prefix, **ids):
    """Configures every operation whose path begins with the prefix."""
    values = ", ".join(f'"path.{name}" = {json.dumps(value)}' for name, value in ids.items())
    pattern = "^" + prefix.replace("{", r"\\{").replace("}", r"\\}")
    print(f'[[operations]]\ninclude-path-regex = "{pattern}"\nparameters = {{ {values} }}\n')


dataset = call("POST", "/api/datasets", {"name": "Schemathesis"})["id"]
items = call("POST", f"/api/datasets/{dataset}/items", {"items": [{"input": "a", "expectedOutput": "a"}, {"input": "b", "output": "b"}]})
call("POST", f"/api/datasets/{dataset}/versions", {"note": "first"})
operations("/api/datasets/{id}/items/{itemId}", id=dataset, itemId=items["items"][0]["id"])
operations("/api/datasets/{id}/versions/{datasetVersion}", id=dataset, datasetVersion="1")
operations("/api/datasets/{id}", id=dataset)

evaluation = call("POST", "/api/evaluations", {
    "name": "Schemathesis", "datasetId": dataset, "metrics": ["exact_match"],
    "target": {"type": "model", "provider": "simulated", "model": "echo"},
})["id"]
run = call("POST", f"/api/evaluations/{evaluation}/runs")["run_id"]
for _ in range(300):
    if call("GET", f"/api/evaluations/{evaluation}/runs/{run}")["status"] != "running":
        break
    time.sleep(0.1)
artifacts = []
for _ in range(300):
    artifacts = call("GET", f"/api/evaluations/{evaluation}/artifacts")["artifacts"]
    if artifacts:
        break
    time.sleep(0.1)
operations("/api/evaluations/{id}/artifacts/{artifactId}", id=evaluation, artifactId=artifacts[0]["artifact_id"])
operations("/api/evaluations/{id}/runs/{runId}", id=evaluation, runId=run)
operations("/api/evaluations/{id}", id=evaluation)

trace = call("POST", "/api/traces", {
    "name": "Schemathesis", "conversationId": "schemathesis", "input": "a", "output": "b", "status": "completed",
    "spans": [{"name": "chat", "startTime": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}],
})["id"]
operations("/api/traces/{id}", id=trace)
operations("/api/conversations/{conversationId}", conversationId="schemathesis")

key = call("POST", "/api/developer/api-keys", {"name": "Schemathesis", "scopes": ["eval:read"]})["id"]
operations("/api/developer/api-keys/{id}", id=key)
member = call("POST", "/api/organizations/current/members", {"email": "schemathesis@example.com", "role": "viewer"})
operations("/api/organizations/current/members/{userId}", userId=member["id"])
