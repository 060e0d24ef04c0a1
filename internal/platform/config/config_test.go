package config_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/platform/config"
	"github.com/assayhq/assay/internal/platform/secret"
)

type store struct {
	URL      secret.Text   `setting:"url" help:"Where it is."`
	MaxConns int           `setting:"max_conns" default:"20" help:"How many."`
	Wait     time.Duration `setting:"wait" default:"5s" help:"How long."`
	Ratio    float64       `setting:"ratio" default:"0.5" help:"Which share."`
	Verbose  bool          `setting:"verbose" default:"false" help:"Whether to talk."`
	Hosts    []string      `setting:"hosts" default:"a,b" help:"Which hosts."`
}

func (s store) Validate() error {
	var errs []error
	if s.URL == "" {
		errs = append(errs, errors.New("url is empty: give one"))
	}
	if s.MaxConns < 1 {
		errs = append(errs, fmt.Errorf("max_conns is %d: it must be at least 1", s.MaxConns))
	}
	return errors.Join(errs...)
}

type whole struct {
	Store store `setting:"store"`
	Other store `setting:"other"`
	Inner int   // no setting
}

// both URLs are given, so that only what a test is about is wrong.
var both = []string{"ASSAY_STORE_URL=x", "ASSAY_OTHER_URL=y"}

func load(file string, environ ...string) (whole, []config.Setting, error) {
	var w whole
	settings, err := config.Load(&w, []byte(file), environ)
	return w, settings, err
}

func TestLoad(t *testing.T) {
	t.Parallel()

	t.Run("defaults, then the file, then the environment", func(t *testing.T) {
		t.Parallel()
		w, settings, err := load("store: {url: file, max_conns: 7, wait: 1m}\nother: {url: y}\n", "ASSAY_STORE_MAX_CONNS=9", "HOME=/root", "PATH")

		require.NoError(t, err)
		require.Equal(t, store{URL: "file", MaxConns: 9, Wait: time.Minute, Ratio: 0.5, Hosts: []string{"a", "b"}}, w.Store)
		sources := map[string]string{}
		for _, s := range settings {
			sources[s.Name] = s.Source
		}
		require.Equal(t, "file", sources["store.wait"])
		require.Equal(t, "environment", sources["store.max_conns"])
		require.Equal(t, "default", sources["store.ratio"])
	})

	t.Run("every kind of value is read from either place", func(t *testing.T) {
		t.Parallel()
		want := store{URL: "u", MaxConns: 3, Wait: 90 * time.Second, Ratio: 0.25, Verbose: true, Hosts: []string{"one", "two"}}
		file, _, err := load("store: {url: u, max_conns: 3, wait: 1m30s, ratio: 0.25, verbose: true, hosts: [one, two]}", both[1])
		require.NoError(t, err)
		require.Equal(t, want, file.Store)
		environment, _, err := load("", both[1], "ASSAY_STORE_URL=u", "ASSAY_STORE_MAX_CONNS=3", "ASSAY_STORE_WAIT=90s", "ASSAY_STORE_RATIO=0.25", "ASSAY_STORE_VERBOSE=true", "ASSAY_STORE_HOSTS= one, two ,,")
		require.NoError(t, err)
		require.Equal(t, want, environment.Store)
	})

	t.Run("a value may hold an equals sign", func(t *testing.T) {
		t.Parallel()
		w, _, err := load("", "ASSAY_STORE_URL=postgres://h/db?sslmode=disable", both[1])
		require.NoError(t, err)
		require.Equal(t, "postgres://h/db?sslmode=disable", w.Store.URL.Reveal())
	})

	t.Run("a dotted name in the file is the same setting", func(t *testing.T) {
		t.Parallel()
		w, _, err := load("store.max_conns: 4", both...)
		require.NoError(t, err)
		require.Equal(t, 4, w.Store.MaxConns)
	})

	t.Run("an empty list is empty", func(t *testing.T) {
		t.Parallel()
		w, _, err := load("store: {hosts: []}", both...)
		require.NoError(t, err)
		require.Empty(t, w.Store.Hosts)
	})

	t.Run("only a pointer to a struct can be filled", func(t *testing.T) {
		t.Parallel()
		_, err := config.Load(whole{}, nil, nil)
		require.Error(t, err)
	})
}

func TestProblems(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file    string
		environ []string
		want    []string
	}{
		"a misspelt variable is named with the right one": {"", []string{"ASSAY_STORE_URLL=x"}, []string{"ASSAY_STORE_URLL in the environment is not a setting: did you mean ASSAY_STORE_URL?"}},
		"a misspelt name in the file too":                 {"store: {max_conn: 1}", nil, []string{"store.max_conn in the file is not a setting: did you mean store.max_conns?"}},
		"an unknown name leads to the list":               {"nothing: {like: it}", nil, []string{"nothing.like in the file is not a setting: run `assay config` for the list"}},
		"variables of development are left alone":         {"", []string{"ASSAY_DEV_DIR=/x", "ASSAY_TEST_OWN=1", "ASSAY_CACHE=/y", "ASSAY_CONFIG=/z"}, nil},
		"a duration needs a unit":                         {"store: {wait: 30}", nil, []string{`store.wait (ASSAY_STORE_WAIT, from the file): "30" is not a duration: use a number and a unit, such as 30s or 5m`}},
		"a number is a number":                            {"", []string{"ASSAY_STORE_MAX_CONNS=many"}, []string{`store.max_conns (ASSAY_STORE_MAX_CONNS, from the environment): "many" is not a whole number`}},
		"a share is a number":                             {"store: {ratio: half}", nil, []string{`"half" is not a number`}},
		"a switch is true or false":                       {"store: {verbose: 'yes'}", nil, []string{`"yes" is not true or false`}},
		"a package's own rules are named with the group":  {"store: {max_conns: 0}", nil, []string{"store.max_conns (ASSAY_STORE_MAX_CONNS) is 0: it must be at least 1"}},
		"a file that is not YAML":                         {"store: [", nil, []string{"the configuration file is not YAML"}},
		"a file that is a list":                           {"- store", nil, []string{"the configuration file does not name settings"}},
		"a file that gives one setting twice":             {"store: {ratio: 1}\nstore.ratio: 2", nil, []string{"store.ratio is in the file twice"}},
		"a file with comments only":                       {"# nothing yet\n", nil, nil},
		"all problems are told at once": {
			file:    "store: {wait: 30, max_conn: 1}",
			environ: []string{"ASSAY_OTHER_MAX_CONNS=0", "ASSAY_OTHER_URLL=x"},
			want:    []string{"store.wait", "store.max_conn in the file", "ASSAY_OTHER_URLL", "other.max_conns (ASSAY_OTHER_MAX_CONNS) is 0"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := load(c.file, append(c.environ, both...)...)
			if c.want == nil {
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			for _, w := range c.want {
				require.ErrorContains(t, err, w)
			}
			require.Len(t, strings.Split(err.Error(), "\n"), len(c.want))
		})
	}
}

func TestSecretsAreNeverPrinted(t *testing.T) {
	t.Parallel()
	w, settings, err := load("store: {url: hunter2, wait: x}", "ASSAY_OTHER_URL=hunter2", "ASSAY_STOR_URL=hunter2")
	require.Error(t, err)

	var text strings.Builder
	fmt.Fprintf(&text, "%v %+v %#v %v %+v", w, w, w, settings, err)
	for _, s := range settings {
		text.WriteString(s.Value() + s.Default + s.Help)
		require.Equal(t, strings.HasSuffix(s.Name, ".url"), s.Secret)
	}

	require.NotContains(t, text.String(), "hunter2")
}

func FuzzLoad(f *testing.F) {
	for _, seed := range []string{
		"", "store: {url: x, max_conns: 7, hosts: [a, b]}", "store.url: x", "- list", "store: null", "? {a: b} : c", "&a [*a]",
		"a: &a {b: 1}\nc: {<<: *a}", "1: 2", "store: {1: 2, true: 3, null: 4, 2026-01-01: 5}", "store: !!binary aGk=", "\x00", "store: {wait: 1e9}", ".: x", "\"\": {\"\": x}",
	} {
		f.Add(seed, "ASSAY_STORE_WAIT=1s")
	}
	f.Add("", "ASSAY_=x")
	f.Add("", "=")
	f.Fuzz(func(t *testing.T, file, variable string) {
		w, settings, err := load(file, append([]string{variable}, both...)...)
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		require.NoError(t, w.Store.Validate(), "what is accepted can work")
		require.Len(t, settings, 12)
	})
}
