package main

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
)

// scanner keeps everything that leaves the process and knows the secrets that
// must not be in it.
type scanner struct {
	mu      sync.Mutex
	seen    map[string]*strings.Builder // by where it was seen
	secrets map[string]string           // text, what it is
	bodies  map[string]bool             // of answers: the same one is read once
}

func newScanner() *scanner {
	return &scanner{seen: map[string]*strings.Builder{}, secrets: map[string]string{}, bodies: map[string]bool{}}
}

// guard adds a secret. Of an API key only the middle is one: its prefix and
// its id may be shown.
func (s *scanner) guard(what, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if parts := strings.Split(text, "_"); len(parts) == 5 && parts[0] == "asy" {
		text = parts[3]
	}
	s.secrets[text] = what
}

func (s *scanner) see(where, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen[where] == nil {
		s.seen[where] = &strings.Builder{}
	}
	s.seen[where].WriteString(text)
	s.seen[where].WriteByte('\n')
}

// isNew reports whether a body has not been seen.
func (s *scanner) isNew(body string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bodies[body] {
		return false
	}
	s.bodies[body] = true
	return true
}

// Write takes what is logged.
func (s *scanner) Write(b []byte) (int, error) {
	s.see("the log", string(b))
	return len(b), nil
}

// leaks are the secrets that were seen, in any of the ways that text is
// written in.
func (s *scanner) leaks() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for secret, what := range s.secrets {
		for where, text := range s.seen {
			for how, form := range spellings(secret) {
				if strings.Contains(text.String(), form) {
					out = append(out, fmt.Sprintf("%s is in %s, %s", what, where, how))
				}
			}
		}
	}
	return out
}

// spellings are the ways in which a secret can stand in a text. Base64 depends
// on where the secret begins; the part that does not is looked for.
func spellings(secret string) map[string]string {
	out := map[string]string{
		"plain": secret, "in hexadecimal": hex.EncodeToString([]byte(secret)), "escaped": url.QueryEscape(secret),
	}
	for shift := range 3 {
		text := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + secret))
		out[fmt.Sprintf("in base64 at %d", shift)] = text[4 : len(text)-4]
	}
	return out
}

// onceShown are the operations whose answer shows a new key.
var onceShown = map[string]bool{"POST /api/developer/api-keys": true, "POST /api/me/api-keys": true}

// watch is a handler that shows every answer to the scanner. A key in the
// answer that made it is taken out and becomes one more secret.
func (s *scanner) watch(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		body := rec.Body.String()
		if rec.Code == http.StatusCreated && rec.Header().Get("Idempotent-Replayed") == "" &&
			(onceShown[r.Method+" "+r.URL.Path] || strings.HasSuffix(r.URL.Path, "/rotate")) {
			var made struct {
				Key string `json:"key"`
			}
			if json.Unmarshal(rec.Body.Bytes(), &made) == nil && made.Key != "" {
				s.guard("a created key", made.Key)
				body = strings.Replace(body, made.Key, "", 1)
			}
		}
		s.see("the answers", fmt.Sprintln(rec.Code, rec.Header()))
		if s.isNew(body) {
			s.see("the answers", body)
		}
		for name, values := range rec.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes())
	})
}

// capture lets the scanner see the log, at its most talkative, and what is
// printed, until done is called.
func (s *scanner) capture(t *testing.T) (done func()) {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "printed"))
	require.NoError(t, err)
	logger, out, errs := slog.Default(), os.Stdout, os.Stderr
	slog.SetDefault(slog.New(slog.NewTextHandler(s, &slog.HandlerOptions{Level: slog.LevelDebug, AddSource: true})))
	os.Stdout, os.Stderr = file, file
	restore := sync.OnceFunc(func() {
		slog.SetDefault(logger)
		os.Stdout, os.Stderr = out, errs
	})
	t.Cleanup(restore)
	return func() {
		restore()
		require.NoError(t, file.Close())
		printed, err := os.ReadFile(file.Name())
		require.NoError(t, err)
		s.see("what was printed", string(printed))
	}
}

// dump shows the scanner every row of an organization in every table.
func (s *scanner) dump(t *testing.T, w *world) {
	t.Helper()
	for table, column := range w.tenantTables(t) {
		var text string
		err := w.owner.QueryRow(t.Context(), fmt.Sprintf("SELECT coalesce(string_agg(r::text, E'\\n'), '') FROM %s r WHERE %s = current_setting('app.org')::uuid", table, column)).Scan(&text)
		require.NoError(t, err)
		s.see("table "+table, text)
	}
}
