package telemetry

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// How many lines with the same message are written in a minute. While an engine is away,
// everything that needs it says so again and again; one line says it as well as a thousand.
const (
	mostLines  = 2
	mostErrors = 20 // each may be another one
)

// repeats drops lines that say again what was said, and counts them: the next line with
// the message has the number as "repeated".
type repeats struct {
	slog.Handler
	said *said
}

func withoutRepeats(h slog.Handler) slog.Handler {
	return repeats{h, &said{lines: map[string]*line{}}}
}

// said is what was said in which minute.
type said struct {
	mu    sync.Mutex
	lines map[string]*line // by message: there are as many as the code has
}

type line struct {
	minute   time.Time
	written  int
	repeated int
}

// allow reports whether a line may be written, and how many before it were not.
func (s *said) allow(r slog.Record) (repeated int, ok bool) {
	most := mostLines
	if r.Level >= slog.LevelError {
		most = mostErrors
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lines[r.Message]
	if l == nil {
		l = &line{}
		s.lines[r.Message] = l
	}
	if minute := r.Time.Truncate(time.Minute); !minute.Equal(l.minute) {
		l.minute, l.written = minute, 0
	}
	if l.written == most {
		l.repeated++
		return 0, false
	}
	l.written++
	repeated, l.repeated = l.repeated, 0
	return repeated, true
}

// Handle writes a line unless it only repeats others. What helps to find a mistake is
// always written.
func (h repeats) Handle(ctx context.Context, r slog.Record) error {
	if r.Level < slog.LevelInfo {
		return h.Handler.Handle(ctx, r)
	}
	repeated, ok := h.said.allow(r)
	if !ok {
		return nil
	}
	if repeated > 0 {
		r.AddAttrs(slog.Int("repeated", repeated))
	}
	return h.Handler.Handle(ctx, r)
}

func (h repeats) WithAttrs(attrs []slog.Attr) slog.Handler {
	return repeats{h.Handler.WithAttrs(attrs), h.said}
}

func (h repeats) WithGroup(name string) slog.Handler {
	return repeats{h.Handler.WithGroup(name), h.said}
}
