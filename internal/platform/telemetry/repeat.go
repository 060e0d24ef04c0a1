package telemetry

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"
)

// mostLines is how many lines that say the same are written in a minute. While an engine is
// away, everything that needs it says so again and again; one line says it as well as a
// thousand.
const mostLines = 2

// mostKept bounds what is remembered: parts of the library write lines with addresses in them.
const mostKept = 1000

// telling are the attributes that make lines different that have the same message.
var telling = []string{"check", "engine", "reason"}

// repeats drops lines that say again what was said in the same minute, and counts them: the
// next such line has the number as "repeated".
type repeats struct {
	slog.Handler
	said *said
}

func withoutRepeats(h slog.Handler) slog.Handler {
	return repeats{h, &said{lines: map[string]*line{}}}
}

// said is what was said in this minute, and in the ones before without being written.
type said struct {
	mu     sync.Mutex
	minute time.Time
	lines  map[string]*line
}

type line struct{ written, repeated int }

// allow reports whether a line may be written, and how many before it were not.
func (s *said) allow(r slog.Record) (repeated int, ok bool) {
	key := r.Message
	r.Attrs(func(a slog.Attr) bool {
		if slices.Contains(telling, a.Key) {
			key += "\x00" + a.Value.String()
		}
		return true
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if minute := r.Time.Truncate(time.Minute); !minute.Equal(s.minute) {
		s.minute = minute
		maps.DeleteFunc(s.lines, func(_ string, l *line) bool { l.written = 0; return l.repeated == 0 })
	}
	l := s.lines[key]
	if l == nil {
		if len(s.lines) == mostKept {
			clear(s.lines)
		}
		l = &line{}
		s.lines[key] = l
	}
	if l.written == mostLines {
		l.repeated++
		return 0, false
	}
	l.written++
	repeated, l.repeated = l.repeated, 0
	return repeated, true
}

// Handle writes a line unless it only repeats others. Errors are always written, since each
// may be a different one.
func (h repeats) Handle(ctx context.Context, r slog.Record) error {
	if r.Level < slog.LevelInfo || r.Level >= slog.LevelError {
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
