// Package origin reads from the environment which change a CI job is about.
package origin

import "strings"

// Of is what the CI system says about its job. The branch of a pull or merge
// request is the one that it comes from.
func Of(environ []string) map[string]any {
	env := map[string]string{}
	for _, kv := range environ {
		if name, value, ok := strings.Cut(kv, "="); ok {
			env[name] = value
		}
	}
	known := map[string]any{}
	set := func(key string, names ...string) {
		for _, name := range names {
			if env[name] != "" && known[key] == nil {
				known[key] = env[name]
			}
		}
	}
	switch {
	case env["GITHUB_ACTIONS"] == "true":
		set("branch", "GITHUB_HEAD_REF")
		if kind := env["GITHUB_REF_TYPE"]; known["branch"] == nil && (kind == "branch" || kind == "tag") {
			set(kind, "GITHUB_REF_NAME")
		}
		set("commit", "GITHUB_SHA")
	case env["GITLAB_CI"] == "true":
		set("branch", "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "CI_COMMIT_BRANCH")
		set("tag", "CI_COMMIT_TAG")
		set("commit", "CI_COMMIT_SHA")
	}
	return known
}
