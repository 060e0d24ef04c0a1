package annotate

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"unicode"

	"github.com/assayhq/assay/internal/command/terminal"
)

// errLong is returned for a line that no answer needs.
var errLong = errors.New("the line is longer than 20,000 characters: shorten it")

// maxLine is how many characters a line can have: as many as an answer.
const maxLine = 20_000

// The keys that have no letter.
const (
	keyInterrupt = 3 // Ctrl-C
	keyEnd       = 4 // Ctrl-D
	keyBack      = 8
	keyEscape    = 27
	keyDelete    = 127
)

// input reads keys and lines: from a terminal as they are pressed, else from a stream.
type input struct {
	from *bufio.Reader
	file *os.File // nil if it is not a terminal
	// restore makes the terminal what it was.
	restore func()
	// pressed says that the last thing read was a key, whose line may still end.
	pressed bool
}

func newInput(from io.Reader) *input {
	in := &input{from: bufio.NewReader(from), restore: func() {}}
	if f, ok := from.(*os.File); ok {
		if restore, single := terminal.Keys(f); single {
			in.file, in.restore = f, restore
		}
	}
	return in
}

// close makes the terminal what it was.
func (in *input) close() { in.restore() }

// next reads one character. Whoever interrupts the command does not have to press
// another key first.
func (in *input) next(ctx context.Context) (rune, error) {
	type read struct {
		r   rune
		err error
	}
	done := make(chan read, 1)
	go func() {
		r, _, err := in.from.ReadRune()
		done <- read{r, err}
	}()
	select {
	case <-ctx.Done():
		return 0, io.EOF
	case got := <-done:
		return got.r, got.err
	}
}

// key reads a key. Spaces and the ends of lines are none. The end of the input is
// io.EOF, and so are Ctrl-C and Ctrl-D.
func (in *input) key(ctx context.Context) (rune, error) {
	for {
		r, err := in.next(ctx)
		switch {
		case err != nil:
			return 0, err
		case r == keyInterrupt || r == keyEnd:
			return 0, io.EOF
		case r == keyEscape: // an arrow or a function key: several characters that arrive together
			_, _ = in.from.Discard(in.from.Buffered())
		case !unicode.IsSpace(r):
			in.pressed = true
			return r, nil
		}
	}
}

// line reads a line. A terminal shows it while it is written, and lets it be edited.
func (in *input) line(ctx context.Context) (string, error) {
	if in.file != nil {
		in.restore()
		defer func() { in.restore, _ = terminal.Keys(in.file) }()
	}
	var text strings.Builder
	for n := 0; ; n++ {
		r, err := in.next(ctx)
		if errors.Is(err, io.EOF) && text.Len() > 0 {
			break
		}
		if err != nil {
			return "", err
		}
		if r == '\n' {
			if n == 0 && in.pressed && in.file == nil {
				in.pressed = false
				continue // the key was on a line of its own
			}
			break
		}
		if text.WriteRune(r); n > maxLine {
			return "", errLong
		}
	}
	in.pressed = false
	return strings.TrimSpace(text.String()), nil
}
