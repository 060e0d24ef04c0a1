package httpapi_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/fault"
	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/httpapi"
)

// budget is what the requests of these tests share.
type budget struct {
	mu             sync.Mutex
	left, most     int
	opened, closed []principal.OrgID
	tasks          int
	busy           error // refuses tasks
}

var errBusy = fault.New(fault.Unavailable, "busy", "There is no room.").With("retryAfterSeconds", 7)

func (b *budget) admit(ctx context.Context, org principal.OrgID) (context.Context, httpapi.Account) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.opened = append(b.opened, org)
	return ctx, &account{budget: b, org: org}
}

type account struct {
	budget *budget
	org    principal.OrgID
	taken  int
}

func (a *account) Take(n int) error {
	b := a.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if n > b.left {
		return errBusy
	}
	b.left -= n
	a.taken += n
	b.most = max(b.most, a.taken)
	return nil
}

func (a *account) Work(ctx context.Context, task func(pause func() error) error) error {
	a.budget.mu.Lock()
	a.budget.tasks++
	a.budget.mu.Unlock()
	if a.budget.busy != nil {
		return a.budget.busy
	}
	return task(ctx.Err)
}

func (a *account) Close() {
	b := a.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left += a.taken
	a.taken = 0
	b.closed = append(b.closed, a.org)
}

func TestAccounts(t *testing.T) {
	t.Parallel()

	t.Run("every request of a caller has one of its organization, to the end of the answer", func(t *testing.T) {
		t.Parallel()
		k := newKit(t, config())
		open := 0
		k.call = func(ctx context.Context) (*okOut, error) {
			require.NoError(t, httpapi.Admitted(ctx).Take(1000))
			open = len(k.budget.opened) - len(k.budget.closed)
			return &okOut{}, nil
		}
		require.Equal(t, http.StatusOK, k.do(t, "GET", "/call", "").Status)
		require.Equal(t, 1, open)
		require.Equal(t, http.StatusCreated, k.do(t, "POST", "/things", `{"name":"n"}`).Status)
		require.Equal(t, http.StatusBadRequest, k.do(t, "POST", "/things", `{"name":1}`).Status)
		require.Equal(t, []principal.OrgID{k.org, k.org, k.org}, k.budget.opened)
		require.Equal(t, k.budget.opened, k.budget.closed)
		require.Equal(t, 64<<20, k.budget.left)
	})

	t.Run("a body pays for its memory as it grows, whatever it weighs on the wire", func(t *testing.T) {
		t.Parallel()
		k := newKit(t, config())
		k.budget.left = 300 << 10
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, err := z.Write([]byte(`{"name":"` + strings.Repeat("n", 900<<10) + `"}`))
		require.NoError(t, err)
		require.NoError(t, z.Close())
		require.Less(t, packed.Len(), 4<<10)
		a := k.do(t, "POST", "/things", packed.String(), "Content-Encoding: gzip")
		require.Equal(t, http.StatusServiceUnavailable, a.Status, a.Body)
		require.Equal(t, "7", a.Header.Get("Retry-After"))
		require.Equal(t, 256<<10, k.budget.most)
		require.Equal(t, 300<<10, k.budget.left)
	})

	t.Run("a large body waits for a turn before it is decoded, a small one does not", func(t *testing.T) {
		t.Parallel()
		k := newKit(t, config())
		require.Equal(t, http.StatusCreated, k.do(t, "POST", "/things", `{"name":"n"}`).Status)
		require.Zero(t, k.budget.tasks)
		large := `{"name":"n","metadata":{"a":"` + strings.Repeat("a", 100<<10) + `"}}`
		require.Equal(t, http.StatusCreated, k.do(t, "POST", "/things", large).Status)
		require.Equal(t, 1, k.budget.tasks)
		k.budget.busy = errBusy
		require.Equal(t, http.StatusServiceUnavailable, k.do(t, "POST", "/things", large).Status)
	})
}
