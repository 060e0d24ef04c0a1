"""What Schemathesis must know about this interface."""

import os

import schemathesis

# Statuses that every operation may answer with and that are declared as
# `default`. Any other status must be declared by the operation itself: with a
# default response, Schemathesis' own check accepts everything.
TRANSPORT = {405, 413, 415, 503}


@schemathesis.check
def declared_status(ctx, response, case):
    declared = case.operation.definition.raw["responses"]
    if str(response.status_code) not in declared and response.status_code not in TRANSPORT:
        raise AssertionError(f"undeclared status {response.status_code}")


@schemathesis.hook
def filter_case(ctx, case):
    """Keep the key that makes the requests, and the organization, alive."""
    if case.operation.path.startswith("/api/developer/api-keys/{id}") and case.method != "GET":
        return str((case.path_parameters or {}).get("id")) != os.environ["OWN_KEY"]
    return True
