package provider

import (
	"context"
	"fmt"
)

// RotateMasterKey wraps every organization's data key with the current master
// key. It can be stopped and started again: what is done stays done. Progress
// is told after each batch.
func (s *Service) RotateMasterKey(ctx context.Context, progress func(done, left int64)) (int64, error) {
	if s.secrets == nil {
		return 0, ErrNoMasterKey
	}
	const batch = 100
	var done int64
	for {
		keys, err := s.store.dataKeysToRewrap(ctx, s.secrets.MasterKeyID(), batch)
		if err != nil {
			return done, err
		}
		if len(keys) == 0 {
			return done, nil
		}
		for _, k := range keys {
			wrapped, _, err := s.secrets.Rewrap(k.wrapped, k.org.String())
			if err != nil {
				return done, fmt.Errorf("rewrap data key of organization %s: %w", k.org, err)
			}
			if err := s.store.rewrapDataKey(ctx, k, wrapped); err != nil {
				return done, err
			}
			done++
		}
		left, err := s.store.countDataKeysToRewrap(ctx, s.secrets.MasterKeyID())
		if err != nil {
			return done, err
		}
		progress(done, left)
	}
}
