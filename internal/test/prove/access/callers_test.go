package main

import (
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/tenancy"
	"github.com/assayhq/assay/internal/test/testkit"
	"github.com/assayhq/assay/internal/test/testkit/specimen"
)

// caller is one kind of caller: what it sends, and what the test knows of it.
type caller struct {
	name    string
	headers []header
	facts   facts
}

// people are all kinds of callers of the world.
func (w *world) people(t testing.TB) []caller {
	t.Helper()
	return slices.Concat(w.ended(t), w.malformed(), w.serviceKeys(t), w.personalKeys(t), w.madeKeys(t), w.otherOrganizations(t), w.speakers(t))
}

func refused(name, reason string, headers ...header) caller {
	return caller{name: name, headers: headers, facts: facts{refused: reason}}
}

// malformed are headers that hold no key of anybody.
func (w *world) malformed() []caller {
	key := w.home.Key.Reveal()
	other := strings.Replace(key, "asy_test_", "asy_live_", 1)
	out := []caller{
		refused("no header", "missing_credentials"),
		refused("empty bearer", "malformed_header", header{"Authorization", "Bearer "}),
		refused("scheme alone", "malformed_header", header{"Authorization", "Bearer"}),
		refused("not bearer", "malformed_header", header{"Authorization", "Basic " + key}),
		refused("key alone", "malformed_header", header{"Authorization", key}),
		refused("two headers", "malformed_header", bearer(key), bearer(key)),
		refused("two keys in one header", "malformed_header", bearer(key+", "+key)),
		refused("truncated key", "key_incomplete", bearer(key[:len(key)-1])),
		refused("key without its checksum", "key_incomplete", bearer(key[:len(key)-7])),
		refused("key with a character more", "key_incomplete", bearer(key+"0")),
		refused("one character changed", "key_incomplete", bearer(altered(key, 30))),
		refused("one character of the id changed", "key_incomplete", bearer(altered(key, 12))),
		refused("unknown key", "key_unknown", bearer(sealed("asy_live_"+strings.Repeat("z", 12)+"_"+strings.Repeat("7", 32)))),
		refused("right id, wrong secret", "key_unknown", bearer(sealed(altered(key, 30)[:len(key)-7]))),
		refused("right id and secret, other environment", "key_unknown", bearer(sealed(other[:len(other)-7]))),
		refused("no key of any kind", "key_unknown", bearer("hello")),
	}
	for _, provider := range []string{"sk-proj-" + strings.Repeat("a", 40), "sk-ant-api03-" + strings.Repeat("b", 40), "AIza" + strings.Repeat("c", 35), "gsk_" + strings.Repeat("d", 48), "hf_" + strings.Repeat("e", 34)} {
		out = append(out, refused("provider key "+provider[:5], "provider_key_not_accepted", bearer(provider)))
	}
	return out
}

// altered is the key with another character at a place.
func altered(key string, at int) string {
	other := "x"
	if key[at] == 'x' {
		other = "y"
	}
	return key[:at] + other + key[at+1:]
}

// sealed adds the checksum that the format asks for: the CRC-32 of the text
// before it, as six digits of base 62.
func sealed(body string) string {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	sum, n := "", crc32.ChecksumIEEE([]byte(body))
	for range 6 {
		sum, n = string(digits[n%62])+sum, n/62
	}
	return body + "_" + sum
}

// ended are keys that worked once. It comes first: it moves the clock.
func (w *world) ended(t testing.TB) []caller {
	t.Helper()
	ctx := t.Context()
	issue := func(name string, expires time.Duration) testkit.Key {
		k := testkit.NewKey{Name: name, Scopes: allScopes}
		if expires > 0 {
			k.ExpiresAt = new(w.kit.Clock.Now().Add(expires))
		}
		made, err := w.home.CreateKey(ctx, k)
		require.NoError(t, err)
		return made
	}
	revoked, expired, rotated, resting := issue("revoked", 0), issue("expired", time.Hour), issue("rotated", 0), issue("resting", 0)
	require.NoError(t, w.home.DeleteAPIKey(ctx, revoked.ID))
	_, err := w.home.RotateKey(ctx, rotated.ID, 60)
	require.NoError(t, err)
	_, err = w.home.RotateKey(ctx, resting.ID, 86400)
	require.NoError(t, err)
	w.kit.AgeKeys(t, w.home.Org, time.Hour)
	return []caller{
		refused("revoked", "key_revoked", bearer(revoked.Key.Reveal())),
		refused("expired", "key_expired", bearer(expired.Key.Reveal())),
		refused("rotated past its grace", "key_expired", bearer(rotated.Key.Reveal())),
		{name: "rotated within its grace", headers: []header{bearer(resting.Key.Reveal())}, facts: facts{scopes: allScopes}},
	}
}

// serviceKeys are keys of the organization: each scope alone, all of them, and
// all but each one.
func (w *world) serviceKeys(t testing.TB) []caller {
	t.Helper()
	var out []caller
	add := func(name string, scopes ...string) {
		key := w.key(t, w.home, scopes...)
		out = append(out, caller{name: name, headers: []header{bearer(key)}, facts: facts{scopes: scopes}})
	}
	for _, s := range allScopes {
		add("only "+s, s)
		add("all but "+s, without(s)...)
	}
	add("all scopes", allScopes...)
	live, err := w.home.CreateKey(t.Context(), testkit.NewKey{Name: "live", Scopes: allScopes, Mode: new("live")})
	require.NoError(t, err)
	return append(out, caller{name: "live key", headers: []header{bearer(live.Key.Reveal())}, facts: facts{scopes: allScopes}})
}

// key makes a key of the test environment.
func (w *world) key(t testing.TB, of *testkit.Client, scopes ...string) string {
	t.Helper()
	granted := make([]principal.Scope, len(scopes))
	for i, s := range scopes {
		granted[i] = principal.Scope(s)
	}
	return w.kit.Key(t, of, granted...).Key.Reveal()
}

func without(scope string) []string {
	return slices.DeleteFunc(slices.Clone(allScopes), func(s string) bool { return s == scope })
}

// person adds a member of the home organization with a personal key that has
// every scope.
func (w *world) person(t testing.TB, name, role string) (user, key string) {
	t.Helper()
	m, err := w.home.InviteMember(t.Context(), testkit.NewMember{Email: name + "@people.example", Name: new(name), Role: role})
	require.NoError(t, err)
	k, err := w.home.CreateKey(t.Context(), testkit.NewKey{Name: "of " + name, Scopes: allScopes, Personal: new(true)}, testkit.Header("X-On-Behalf-Of", m.ID))
	require.NoError(t, err)
	return m.ID, k.Key.Reveal()
}

// entered adds a member, who signs in and makes a key with every scope of the role.
func (w *world) entered(t testing.TB, name, role string) (user string, key *testkit.Client) {
	t.Helper()
	m, err := w.home.InviteMember(t.Context(), testkit.NewMember{Email: name + "@people.example", Name: new(name), Role: role})
	require.NoError(t, err)
	return m.ID, w.home.Enter(t, m.ID)
}

// madeKeys are keys of members and how they came to be: of all these, only those that somebody
// made after signing in, and their children, are people.
func (w *world) madeKeys(t testing.TB) (out []caller) {
	t.Helper()
	ctx := t.Context()
	add := func(name string, key *testkit.Client, role string, person bool) {
		out = append(out, caller{name: name, headers: []header{bearer(key.Key.Reveal())}, facts: facts{scopes: roleScopes[role], role: role, person: person}})
	}
	child := func(of *testkit.Client, role, name string) testkit.Key {
		k, err := of.CreateMyKey(ctx, testkit.NewKey{Name: name, Scopes: roleScopes[role]})
		require.NoError(t, err)
		return k
	}
	for _, role := range []string{"owner", "admin", "member", "annotator", "viewer"} {
		_, key := w.entered(t, "entered-"+role, role)
		add("key that a "+role+" made", key, role, true)
	}
	ann, anns := w.entered(t, "ann", "admin")
	add("key that a person made with theirs", w.home.With(child(anns, "admin", "ann's second").Key), "admin", true)
	rotate := func(by *testkit.Client, name string) *testkit.Client {
		k, err := by.RotateKey(ctx, child(anns, "admin", name).ID, 0)
		require.NoError(t, err)
		return w.home.With(k.Key)
	}
	add("key that its person rotated", rotate(anns, "ann's third"), "admin", true)
	add("key of a person that a service key rotated", rotate(w.home, "ann's fourth"), "admin", false)
	_, bobs := w.entered(t, "bob", "admin")
	add("key of a person that another person rotated", rotate(bobs, "ann's fifth"), "admin", false)
	byService := testkit.MintFor(t, w.home, ann, "admin")
	add("key that a service key made for a person", byService, "admin", false)
	add("key that a person made for another", testkit.MintFor(t, bobs, ann, "admin"), "admin", false)
	add("key that a person made for themselves by X-On-Behalf-Of", testkit.MintFor(t, anns, ann, "admin"), "admin", false)
	add("key that was made with a key that somebody else made", w.home.With(child(byService, "admin", "ann's sixth").Key), "admin", false)
	return out
}

// personalKeys are narrowed by the role that their owner has now.
func (w *world) personalKeys(t testing.TB) []caller {
	t.Helper()
	var out []caller
	for _, role := range []string{"owner", "admin", "member", "annotator", "viewer"} {
		_, key := w.person(t, role, role)
		out = append(out, caller{name: "personal key of " + role, headers: []header{bearer(key)}, facts: facts{scopes: allScopes, role: role}})
	}
	removed, key := w.person(t, "removed", "admin")
	require.NoError(t, w.home.RemoveMember(t.Context(), removed))
	out = append(out, refused("personal key of a removed member", "key_revoked", bearer(key)))
	for from, to := range map[string]string{"admin": "viewer", "member": "annotator"} {
		demoted, key := w.person(t, "demoted-"+from, from)
		_, err := w.home.UpdateMember(t.Context(), demoted, map[string]any{"role": to})
		require.NoError(t, err)
		out = append(out, caller{name: "personal key of a former " + from, headers: []header{bearer(key)}, facts: facts{scopes: allScopes, role: to}})
	}
	return out
}

// otherOrganizations are keys from elsewhere, and of organizations that are
// suspended or gone.
func (w *world) otherOrganizations(t testing.TB) []caller {
	t.Helper()
	ctx := t.Context()
	other, suspended, deleted := w.kit.Org(t), w.kit.Org(t), w.kit.Org(t)
	narrow := w.key(t, suspended, "traces:read")
	require.NoError(t, w.kit.App.Tenancy.Suspend(ctx, suspended.Org))
	_, err := deleted.Call(ctx, "DELETE", "/api/organizations/current?confirm="+deleted.Org.String(), nil, nil)
	require.NoError(t, err)
	o, err := w.kit.App.Tenancy.Organization(ctx, deleted.Org)
	require.NoError(t, err)
	require.Equal(t, tenancy.StatusDeleting, o.Status)
	return []caller{
		{name: "key of another organization", headers: []header{bearer(other.Key.Reveal())}, facts: facts{scopes: allScopes, foreign: true}},
		{name: "key of another organization with one scope", headers: []header{bearer(w.key(t, other, "eval:read"))}, facts: facts{scopes: []string{"eval:read"}, foreign: true}},
		{name: "key of a suspended organization", headers: []header{bearer(suspended.Key.Reveal())}, facts: facts{scopes: allScopes, suspended: true}},
		{name: "narrow key of a suspended organization", headers: []header{bearer(narrow)}, facts: facts{scopes: []string{"traces:read"}, suspended: true}},
		refused("key of a deleted organization", "key_revoked", bearer(deleted.Key.Reveal())),
	}
}

// speakers say that they act for somebody.
func (w *world) speakers(t testing.TB) []caller {
	t.Helper()
	member := middle(w.own["member"])
	removed, _ := w.person(t, "left", "member")
	require.NoError(t, w.home.RemoveMember(t.Context(), removed))
	everything := w.home.Key.Reveal()
	var out []caller
	add := func(name, key, user string, f facts) {
		out = append(out, caller{name: "on behalf of " + name, headers: []header{bearer(key), {"X-On-Behalf-Of", user}}, facts: f})
	}
	add("a member", everything, member, facts{scopes: allScopes, speaks: forMember})
	add("a non-member", everything, specimen.Absent("member"), facts{scopes: allScopes, speaks: forStranger})
	add("a foreign member", everything, middle(w.theirs["member"]), facts{scopes: allScopes, speaks: forStranger})
	add("a removed member", everything, removed, facts{scopes: allScopes, speaks: forStranger})
	add("no person", everything, "root", facts{scopes: allScopes, speaks: forStranger})
	for i, user := range []string{member, specimen.Absent("member"), middle(w.theirs["member"])} {
		add("somebody without admin:org "+strconv.Itoa(i), w.key(t, w.home, without("admin:org")...), user, facts{scopes: without("admin:org"), speaks: forStranger})
	}
	add("a member with admin:org alone", w.key(t, w.home, "admin:org"), member, facts{scopes: []string{"admin:org"}, speaks: forMember})
	_, admin := w.person(t, "speaker", "admin")
	add("a member, by an admin", admin, member, facts{scopes: allScopes, role: "admin", speaks: forMember})
	_, viewer := w.person(t, "whisperer", "viewer")
	add("a member, by a viewer", viewer, member, facts{scopes: allScopes, role: "viewer", speaks: forMember})
	return out
}
