package main

import "time"

// crash is a part that was down. Answers that were not stored when it came may
// be asked for once more.
type crash struct {
	what       string
	began, end time.Time
}

// crashed notes that a part is down. The returned function notes that it is
// back, and that its consequences are over a while later.
func (s *system) crashed(what string) (back func(after time.Duration)) {
	c := &crash{what: what, began: time.Now(), end: time.Now().Add(time.Hour)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.crashes = append(s.crashes, c)
	return func(after time.Duration) {
		s.mu.Lock()
		defer s.mu.Unlock()
		c.end = time.Now().Add(after)
	}
}

// downs are the crashes so far.
func (s *system) downs() []crash {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]crash, len(s.crashes))
	for i, c := range s.crashes {
		all[i] = *c
	}
	return all
}
