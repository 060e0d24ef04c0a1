package rig

import "time"

// Crash is a part that was down. Answers that were not stored when it came may
// be asked for once more.
type Crash struct {
	What       string
	Began, End time.Time
}

// Crashed notes that a part is down. The returned function notes that it is
// back, and that its consequences are over a while later.
func (s *System) Crashed(what string) (back func(after time.Duration)) {
	c := &Crash{What: what, Began: time.Now(), End: time.Now().Add(time.Hour)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.crashes = append(s.crashes, c)
	return func(after time.Duration) {
		s.mu.Lock()
		defer s.mu.Unlock()
		c.End = time.Now().Add(after)
	}
}

// Downs are the crashes so far.
func (s *System) Downs() []Crash {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Crash, len(s.crashes))
	for i, c := range s.crashes {
		all[i] = *c
	}
	return all
}
