// Asks Cedar's own implementation. Each line of standard input is a question with its
// policies; each line of standard output is what Cedar makes of it.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const cedar = createRequire(`${process.argv[2]}/`)("@cedar-policy/cedar-wasm/nodejs");

for await (const line of createInterface({ input: process.stdin })) {
  const { policies, principal, action, resource, context, entities } = JSON.parse(line);
  const said = cedar.isAuthorized({ principal, action, resource, context, entities, policies: { staticPolicies: policies } });
  const out =
    said.type === "success"
      ? {
          decision: said.response.decision,
          reasons: said.response.diagnostics.reason.toSorted(),
          errors: said.response.diagnostics.errors.map((e) => e.policyId).toSorted(),
        }
      : { failure: said.errors.map((e) => e.message).join("; ") };
  console.log(JSON.stringify(out));
}
