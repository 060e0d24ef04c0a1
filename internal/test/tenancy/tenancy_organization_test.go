package tenancy_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/tenancy"
	"github.com/assayhq/assay/internal/test/testkit"
)

func TestOrganization(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)

	t.Run("each setting is set, read and reset", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		us := k.Org(t)
		begin, err := us.GetOrganization(ctx)
		require.NoError(t, err)
		require.Equal(t, us.Org.String(), begin.ID)
		require.Equal(t, "active", begin.Status)
		require.Nil(t, begin.RetentionDays)
		require.Equal(t, "requester", begin.SeparationOfDuties)
		require.Empty(t, begin.RedactionRules)
		require.EqualValues(t, 1, begin.Version)

		rules := []map[string]any{{"name": "cards", "pattern": `\d{16}`}, {"name": "passwords", "key": "password"}}
		got, err := us.UpdateOrganization(ctx, map[string]any{
			"name": "New name", "retentionDays": 30, "separationOfDuties": "key_owner", "redactionRules": rules,
			"priceOverrides": map[string]any{"our-model": map[string]any{"inputPerMillion": 1.5, "outputPerMillion": 2}},
		})
		require.NoError(t, err)
		require.Equal(t, "New name", got.Name)
		require.EqualValues(t, 30, *got.RetentionDays)
		require.Equal(t, "key_owner", got.SeparationOfDuties)
		require.Equal(t, []api.RedactionRule{{Name: "cards", Pattern: new(`\d{16}`)}, {Name: "passwords", Key: new("password")}}, got.RedactionRules)
		require.Equal(t, map[string]api.ModelPrice{"our-model": {InputPerMillion: 1.5, OutputPerMillion: 2}}, got.PriceOverrides)
		require.EqualValues(t, 2, got.Version)
		read, err := us.GetOrganization(ctx)
		require.NoError(t, err)
		require.Equal(t, got, read)

		same, err := us.UpdateOrganization(ctx, map[string]any{"retentionDays": 30})
		require.NoError(t, err)
		require.Equal(t, got, same, "what changes nothing makes no version")
		same, err = us.UpdateOrganization(ctx, map[string]any{})
		require.NoError(t, err)
		require.Equal(t, got, same)
		same, err = us.UpdateOrganization(ctx, map[string]any{"redaction_rules": got.RedactionRules, "price_overrides": got.PriceOverrides})
		require.NoError(t, err)
		require.Equal(t, got, same, "what was read can be sent back")

		got, err = us.UpdateOrganization(ctx, map[string]any{"retentionDays": nil, "redactionRules": nil, "priceOverrides": nil})
		require.NoError(t, err)
		begin.Name, begin.SeparationOfDuties, begin.Version, begin.UpdatedAt = "New name", "key_owner", 3, got.UpdatedAt
		require.Equal(t, begin, got)
	})

	t.Run("a request that makes no sense is refused", func(t *testing.T) {
		t.Parallel()
		us := k.Org(t)
		rule := func(r map[string]any) map[string]any {
			return map[string]any{"redactionRules": []any{map[string]any{"name": "fine", "key": "k"}, r}}
		}
		for _, c := range []struct {
			body       map[string]any
			path, code string
		}{
			{rule(map[string]any{"name": "x", "pattern": "("}), "/redactionRules/1/pattern", "format"},
			{rule(map[string]any{"name": "x", "pattern": "a", "key": "b"}), "/redactionRules/1", "one_of_required"},
			{rule(map[string]any{"name": "x"}), "/redactionRules/1", "one_of_required"},
			{map[string]any{"name": ""}, "/name", "length"},
			{map[string]any{"name": strings.Repeat("x", 201)}, "/name", "length"},
			{map[string]any{"retentionDays": 0}, "/retentionDays", "min"},
			{map[string]any{"retentionDays": 3651}, "/retentionDays", "max"},
			{map[string]any{"separationOfDuties": "sometimes"}, "/separationOfDuties", "enum"},
			{map[string]any{"retentionDay": 3}, "/retentionDay", "unknown_field"},
		} {
			_, err := us.UpdateOrganization(t.Context(), c.body)
			require.Error(t, err, "%v", c.body)
			invalid(t, err, c.path, c.code)
		}
		o, err := us.GetOrganization(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, 1, o.Version)
	})

	t.Run("a stale change is refused", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		us := k.Org(t)
		res := get(t, us, "/api/organizations/current")
		require.Equal(t, `"v1"`, res.Header.Get("ETag"))
		res, err := us.Call(ctx, http.MethodPatch, "/api/organizations/current", map[string]any{"name": "A"}, nil, testkit.Header("If-Match", `"v1"`))
		require.NoError(t, err)
		require.Equal(t, `"v2"`, res.Header.Get("ETag"))
		_, err = us.UpdateOrganization(ctx, map[string]any{"name": "B"}, testkit.Header("If-Match", `"v1"`))
		require.ErrorIs(t, err, tenancy.ErrVersionConflict)
		_, err = us.UpdateOrganization(ctx, map[string]any{"name": "B", "expectedVersion": 1})
		require.EqualValues(t, 2, refused(t, err, fault.Conflict, "version_conflict")["currentVersion"])
		_, err = us.UpdateOrganization(ctx, map[string]any{"name": "B", "expectedVersion": 2})
		require.NoError(t, err)
	})

	t.Run("what was read can be sent back", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		us := k.Org(t)
		var whole map[string]any
		_, err := us.Call(ctx, http.MethodGet, "/api/organizations/current", nil, &whole)
		require.NoError(t, err)
		whole["name"], whole["plan"], whole["hourly_limit"], whole["status"] = "Edited", "enterprise", 5, "suspended"
		var got testkit.Organization
		res, err := us.Call(ctx, http.MethodPatch, "/api/organizations/current", whole, &got)
		require.NoError(t, err)
		require.Equal(t, "Edited", got.Name)
		require.Equal(t, "self_hosted", got.Plan, "read-only fields are ignored")
		require.Equal(t, "active", got.Status)
		for _, name := range []string{"plan", "hourly_limit", "status", "created_at"} {
			require.Contains(t, res.Header.Get("X-Ignored-Fields"), name)
		}
	})

	t.Run("a plan has its limit", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		us := k.Org(t)
		for _, c := range []struct {
			plan      tenancy.Plan
			own, want int
		}{
			{tenancy.PlanFree, 0, 100},
			{tenancy.PlanPro, 0, 1000},
			{tenancy.PlanEnterprise, 0, 100_000},
			{tenancy.PlanEnterprise, 7777, 7777},
			{tenancy.PlanSelfHosted, 0, 1_000_000},
		} {
			require.NoError(t, k.App.Tenancy.SetPlan(ctx, us.Org, c.plan, c.own))
			o, err := us.GetOrganization(ctx)
			require.NoError(t, err)
			require.Equal(t, string(c.plan), o.Plan)
			require.EqualValues(t, c.want, o.HourlyLimit)
			res := get(t, us, "/api/me")
			require.Contains(t, string(res.Body), `"plan":"`+string(c.plan)+`"`)
		}
	})

	t.Run("a suspended organization is refused until it is resumed", func(t *testing.T) {
		t.Parallel()
		ctx := t.Context()
		us, them := k.Org(t), k.Org(t)
		require.NoError(t, k.App.Tenancy.Suspend(ctx, us.Org))
		for _, path := range []string{"/api/me", "/api/datasets", "/api/organizations/current"} {
			_, err := us.Call(ctx, http.MethodGet, path, nil, nil)
			refused(t, err, fault.Forbidden, "organization_suspended")
		}
		_, err := us.CreateDataset(ctx, testkit.NewDataset{Name: "x"})
		refused(t, err, fault.Forbidden, "organization_suspended")
		_, err = them.GetMe(ctx)
		require.NoError(t, err)
		err = k.App.Tenancy.Suspend(ctx, us.Org)
		f, ok := fault.From(err)
		require.True(t, ok)
		require.Equal(t, tenancy.StatusSuspended, f.Details["currentState"])
		require.Equal(t, []tenancy.Status{tenancy.StatusActive, tenancy.StatusDeleting}, f.Details["allowedTransitions"])

		require.NoError(t, k.App.Tenancy.Resume(ctx, us.Org))
		_, err = us.GetMe(ctx)
		require.NoError(t, err)
		require.ErrorIs(t, k.App.Tenancy.Resume(ctx, us.Org), tenancy.ErrTransition)
		log, err := us.ListAuditLogs(ctx, "resourceType=organization")
		require.NoError(t, err)
		require.Equal(t, []string{"organization.resumed", "organization.suspended", "organization.created"}, []string{log.AuditLogs[0].Action, log.AuditLogs[1].Action, log.AuditLogs[2].Action})
		require.Equal(t, "system", log.AuditLogs[0].Actor.Type)
	})
}
