package app_test

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/change"
	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/test/testkit"
)

const replayed = "Idempotent-Replayed"

// post makes a request with an idempotency key and a raw body.
func post(t *testing.T, c *testkit.Client, method, path, key, body string) *testkit.Response {
	t.Helper()
	res, err := c.Send(t.Context(), method, path, strings.NewReader(body), testkit.Idempotent(key))
	require.NoError(t, err)
	return res
}

func count(t *testing.T, c *testkit.Client) int {
	t.Helper()
	page, err := c.ListDatasets(t.Context(), "includeTotal=true")
	require.NoError(t, err)
	return int(api.Value(page.Total))
}

func TestRepetition(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)

	t.Run("the same key and content has one effect and one answer", func(t *testing.T) {
		t.Parallel()
		c := k.Org(t)
		first := post(t, c, "POST", "/api/datasets", "k1", `{"name":"a","tags":["x"],"schema":{"type":"object"}}`)
		require.Equal(t, http.StatusCreated, first.Status)
		require.Empty(t, first.Header.Get(replayed))
		for _, same := range []string{
			`{"name":"a","tags":["x"],"schema":{"type":"object"}}`,
			"{ \"name\" : \"a\",\n \"tags\":[\"x\"], \"schema\":{\"type\":\"object\"}}",
		} {
			again := post(t, c, "POST", "/api/datasets", "k1", same)
			require.Equal(t, http.StatusCreated, again.Status, "%s", again.Body)
			require.Equal(t, "true", again.Header.Get(replayed))
			require.Equal(t, string(first.Body), string(again.Body))
			require.Equal(t, first.Header.Get("Location"), again.Header.Get("Location"))
			require.Equal(t, first.Header.Get("ETag"), again.Header.Get("ETag"))
		}
		require.Equal(t, 1, count(t, c))
	})

	t.Run("what is deleted answers the same key as before", func(t *testing.T) {
		t.Parallel()
		c := k.Org(t)
		created, err := c.CreateDataset(t.Context(), testkit.NewDataset{Name: "a"})
		require.NoError(t, err)
		trace, err := c.CreateTrace(t.Context(), map[string]any{"name": "a"})
		require.NoError(t, err)
		for _, path := range []string{"/api/datasets/" + created.ID, "/api/traces/" + trace.ID} {
			first := post(t, c, "DELETE", path, "k1", "")
			require.Equal(t, http.StatusOK, first.Status, "%s", first.Body)
			again := post(t, c, "DELETE", path, "k1", "")
			require.Equal(t, http.StatusOK, again.Status, "%s", again.Body)
			require.Equal(t, "true", again.Header.Get(replayed))
			require.Equal(t, string(first.Body), string(again.Body))
			require.Equal(t, http.StatusNotFound, post(t, c, "DELETE", path, "k2", "").Status)
		}
	})

	t.Run("the same key with other content is refused", func(t *testing.T) {
		t.Parallel()
		c := k.Org(t)
		post(t, c, "POST", "/api/datasets", "k1", `{"name":"a"}`)
		_, err := c.CreateDataset(t.Context(), testkit.NewDataset{Name: "b"}, testkit.Idempotent("k1"))
		require.ErrorIs(t, err, change.ErrKeyReused)
		again := post(t, c, "POST", "/api/datasets", "k1", `{"name":"a"}`)
		require.Equal(t, "true", again.Header.Get(replayed), "the refusal did not take the first one's place")
		require.Equal(t, 1, count(t, c))
	})

	t.Run("another organization or path does not know the key", func(t *testing.T) {
		t.Parallel()
		c, other := k.Org(t), k.Org(t)
		post(t, c, "POST", "/api/datasets", "k1", `{"name":"a"}`)
		theirs := post(t, other, "POST", "/api/datasets", "k1", `{"name":"a"}`)
		require.Equal(t, http.StatusCreated, theirs.Status)
		require.Empty(t, theirs.Header.Get(replayed))
		one, two := c.Dataset(t, testkit.NewDataset{}), c.Dataset(t, testkit.NewDataset{})
		for _, d := range []testkit.Dataset{one, two} {
			res := post(t, c, "POST", "/api/datasets/"+d.ID+"/items", "k1", `{"input":1}`)
			require.Equal(t, http.StatusCreated, res.Status)
			require.Empty(t, res.Header.Get(replayed))
		}
		require.Equal(t, 3, count(t, c))
		require.Equal(t, 1, count(t, other))
	})

	t.Run("without a key each request has its effect", func(t *testing.T) {
		t.Parallel()
		c := k.Org(t)
		for range 2 {
			c.Dataset(t, testkit.NewDataset{Name: "a"})
		}
		require.Equal(t, 2, count(t, c))
	})

	t.Run("many at once have one effect", func(t *testing.T) {
		t.Parallel()
		c := k.Org(t)
		const n = 64
		answers := make([]*testkit.Response, n)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() { answers[i] = post(t, c, "POST", "/api/datasets", "k1", `{"name":"a"}`) })
		}
		wg.Wait()
		first := 0
		var body string
		for _, a := range answers {
			if a.Status == http.StatusConflict {
				require.Contains(t, string(a.Body), `"reason":"idempotency_in_progress"`)
				require.Equal(t, "1", a.Header.Get("Retry-After"))
				continue
			}
			require.Equal(t, http.StatusCreated, a.Status, "%s", a.Body)
			if a.Header.Get(replayed) == "" {
				first++
			}
			if body == "" {
				body = string(a.Body)
			}
			require.Equal(t, body, string(a.Body))
		}
		require.Equal(t, 1, first)
		require.Equal(t, 1, count(t, c))
	})
}

func TestRefusalsAreRemembered(t *testing.T) {
	t.Parallel()
	k := testkit.Shared(t)
	c := k.Org(t)
	refused := func(t *testing.T, status int, method, path, body string, mend func()) {
		t.Helper()
		first := post(t, c, method, path, "refused", body)
		require.Equal(t, status, first.Status, "%s", first.Body)
		mend()
		again := post(t, c, method, path, "refused", body)
		require.Equal(t, status, again.Status)
		require.Equal(t, "true", again.Header.Get(replayed))
		one, other := string(first.Body), string(again.Body)
		require.Equal(t, one[:strings.Index(one, `"requestId"`)], other[:strings.Index(other, `"requestId"`)])
		require.Less(t, post(t, c, method, path, "fresh", body).Status, 300, "a new key finds the state mended")
	}
	edit := func(id string, patch map[string]any) {
		_, err := c.UpdateDataset(t.Context(), id, patch)
		require.NoError(t, err)
	}

	archived := c.Dataset(t, testkit.NewDataset{})
	edit(archived.ID, map[string]any{"status": "archived"})
	refused(t, http.StatusConflict, "POST", "/api/datasets/"+archived.ID+"/items", `{"input":1}`, func() { edit(archived.ID, map[string]any{"status": "active"}) })

	strict := c.Dataset(t, testkit.NewDataset{Schema: map[string]any{"required": []string{"labels"}}})
	refused(t, http.StatusBadRequest, "POST", "/api/datasets/"+strict.ID+"/items", `{"input":1}`, func() { edit(strict.ID, map[string]any{"schema": nil}) })

	n, err := strconv.Atoi(strict.ID)
	require.NoError(t, err)
	next := strconv.Itoa(n + 1)
	refused(t, http.StatusNotFound, "PATCH", "/api/datasets/"+next, `{"name":"b"}`, func() {
		require.Equal(t, next, c.Dataset(t, testkit.NewDataset{}).ID)
	})

	old := c.Dataset(t, testkit.NewDataset{})
	stale := post(t, c, "PATCH", "/api/datasets/"+old.ID, "stale", `{"name":"b","expectedVersion":9}`)
	require.Equal(t, http.StatusConflict, stale.Status)
	require.Equal(t, "true", post(t, c, "PATCH", "/api/datasets/"+old.ID, "stale", `{"name":"b","expectedVersion":9}`).Header.Get(replayed))
}

//nolint:paralleltest // it moves the clock
func TestKeysAreForgottenAfterADay(t *testing.T) {
	k := testkit.Moving(t)
	c := k.Org(t)
	ask := func() *testkit.Response { return post(t, c, "POST", "/api/datasets", "k1", `{"name":"a"}`) }
	first := ask()
	k.Clock.Advance(change.Remembered - time.Minute)
	require.Equal(t, "true", ask().Header.Get(replayed))
	k.Clock.Advance(time.Minute)
	late := ask()
	require.Equal(t, http.StatusCreated, late.Status)
	require.Empty(t, late.Header.Get(replayed))
	require.NotEqual(t, string(first.Body), string(late.Body))
	require.Equal(t, 2, count(t, c))
	require.Equal(t, string(late.Body), string(ask().Body), "the new answer is remembered in its place")
}
