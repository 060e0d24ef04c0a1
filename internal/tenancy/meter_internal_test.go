package tenancy

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/clickhouse"
	"github.com/assayhq/assay/internal/platform/postgres"
)

// TestFiguresWaitForClickHouse takes ClickHouse away: requests go on, figures
// arrive when it is back, and the last use of a key is known meanwhile.
func TestFiguresWaitForClickHouse(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := service(t)
	made, err := s.Bootstrap(ctx, "Test", FirstMember{Email: "owner@example.com"}, NewKey{Name: "first", Mode: ModeTest, Scopes: principal.Scopes})
	require.NoError(t, err)
	here := s.store.ch
	away, err := clickhouse.Open(clickhouse.Config{URL: "clickhouse://nobody@127.0.0.1:1/nothing", ReaderURL: "clickhouse://reader@127.0.0.1:1/nothing"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = away.Close() })
	s.store.ch = away

	var id int64
	for range 5 {
		c, err := s.Authenticate(ctx, made.Key.Reveal())
		require.NoError(t, err)
		id = c.Key
		s.Meter(Request{Org: made.Org, KeyID: c.KeyID, Operation: "getMe", Status: 200, Took: time.Millisecond, At: time.Now()})
		s.FlushMeter(ctx)
	}
	k, err := s.Key(ctx, made.Org, id)
	require.NoError(t, err)
	require.NotNil(t, k.LastUsedAt, "the last use is PostgreSQL's to know")

	s.store.ch = here
	s.FlushMeter(ctx)
	_, u, err := s.Usage(ctx, made.Org, id, 1)
	require.NoError(t, err)
	require.EqualValues(t, 5, u.Requests, "each once")
	require.Empty(t, s.meter.take())
}

// TestAFlushEnds lets requests come while others are written: they wait for the
// next flush, however many there are.
func TestAFlushEnds(t *testing.T) {
	t.Parallel()
	s := service(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	org := principal.NewOrgID()
	s.Meter(Request{Org: org, KeyID: "7Gq2mZ0aKc4T", Operation: "getMe", Status: 200, At: time.Now()})
	go func() {
		for ctx.Err() == nil {
			s.Meter(Request{Org: org, KeyID: "7Gq2mZ0aKc4T", Operation: "getMe", Status: 200, At: time.Now()})
			runtime.Gosched()
		}
	}()
	s.FlushMeter(ctx)
}

// TestTheMeterIsBounded fills the meter while nothing takes from it.
func TestTheMeterIsBounded(t *testing.T) {
	t.Parallel()
	m := newMeter()
	for range meterHold + 10 {
		m.add(Request{})
	}
	require.Len(t, m.pending, meterHold)
	require.EqualValues(t, 10, m.dropped)
	block := m.take()
	require.Len(t, block, meterBlock)
	m.giveBack(block)
	require.Len(t, m.pending, meterHold)
	require.NotEmpty(t, m.full, "a whole block asks to be written")
}

// TestAPersonalKeyHasARole reads the key as authentication does, which sees
// one member and no more: without a role the key would be a service key.
func TestAPersonalKeyHasARole(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := service(t)
	made, err := s.Bootstrap(ctx, "Test", FirstMember{Email: "owner@example.com"}, NewKey{Name: "first", Mode: ModeTest, Scopes: principal.Scopes})
	require.NoError(t, err)
	ctx = principal.With(ctx, principal.Caller{Org: made.Org, User: &made.Owner, Role: principal.Owner, Scopes: principal.Scopes, OverOwners: true})
	var text string
	require.NoError(t, postgres.InTx(ctx, s.db, made.Org, func(tx postgres.Tx) error {
		_, key, err := s.CreateKeyTx(ctx, tx, NewKey{Name: "mine", Mode: ModeTest, Scopes: principal.Scopes, Personal: true})
		text = key.Reveal()
		return err
	}))
	c, err := s.Authenticate(ctx, text)
	require.NoError(t, err)
	require.Equal(t, principal.Owner, c.Role, "a personal key always has a role")
	require.Equal(t, made.Owner, *c.User)
}

// TestChangesOfAKeyWaitForEachOther begins to end a key while it is being
// changed: the end waits for the change, sees it, and stands.
func TestChangesOfAKeyWaitForEachOther(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := service(t)
	made, err := s.Bootstrap(ctx, "Test", FirstMember{Email: "owner@example.com"}, NewKey{Name: "first", Mode: ModeTest, Scopes: principal.Scopes})
	require.NoError(t, err)
	for name, end := range map[string]func(postgres.Tx, int64) error{
		"rotated": func(tx postgres.Tx, id int64) error { _, _, err := s.RotateKeyTx(ctx, tx, id, 0); return err },
		"revoked": func(tx postgres.Tx, id int64) error { return s.RevokeKeyTx(ctx, tx, id) },
	} {
		k, _, err := s.CreateKey(ctx, made.Org, NewKey{Name: name, Mode: ModeTest, Scopes: principal.Scopes})
		require.NoError(t, err)
		ended := make(chan error, 1)
		err = postgres.InTx(ctx, s.db, made.Org, func(tx postgres.Tx) error {
			_, err := s.UpdateKeyTx(ctx, tx, k.ID, 0, func(k *Key) {
				go func() {
					ended <- postgres.InTx(ctx, s.db, made.Org, func(tx postgres.Tx) error { return end(tx, k.ID) })
				}()
				later := time.Now().Add(time.Hour)
				k.ExpiresAt = &later
			})
			return err
		})
		require.NoError(t, err, name)
		require.NoError(t, <-ended, name)
		k, err = s.Key(ctx, made.Org, k.ID)
		if name == "revoked" {
			require.ErrorIs(t, err, ErrKeyNotFound)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, KeyExpired, k.StatusAt(time.Now()))
	}
}
