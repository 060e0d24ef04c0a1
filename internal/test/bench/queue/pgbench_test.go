package queue_test

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/assayhq/assay/internal/core/principal"
	"github.com/assayhq/assay/internal/platform/devenv"
)

// statements are the product's own, read from where sqlc reads them.
type statements struct{ area, text string }

func readStatements(t testing.TB, area string) statements {
	t.Helper()
	root, err := devenv.Root()
	require.NoError(t, err)
	file, err := os.ReadFile(filepath.Join(root, "internal", area, "store.sql"))
	require.NoError(t, err)
	return statements{area, string(file)}
}

var (
	optional = regexp.MustCompile(`sqlc\.narg\('\w+'\)`)
	argument = regexp.MustCompile(`@(\w+)`)
)

// scripts are statements for pgbench, one after the other.
func (s statements) scripts(t testing.TB, values map[string]string, names ...string) string {
	t.Helper()
	var all strings.Builder
	for _, name := range names {
		all.WriteString(s.script(t, name, values))
	}
	return all.String()
}

// script is a statement for pgbench: filters that are not used are null, and each
// argument is what values say, or a variable of the same name.
func (s statements) script(t testing.TB, name string, values map[string]string) string {
	t.Helper()
	_, after, ok := strings.Cut(s.text, "-- name: "+name+" ")
	require.True(t, ok, "%s has no statement %s", s.area, name)
	_, after, _ = strings.Cut(after, "\n")
	for strings.HasPrefix(after, "--") {
		_, after, _ = strings.Cut(after, "\n")
	}
	text, _, _ := strings.Cut(after, ";")
	text = optional.ReplaceAllString(text, "NULL")
	text = argument.ReplaceAllStringFunc(text, func(arg string) string {
		if v, ok := values[arg[1:]]; ok {
			return v
		}
		return ":" + arg[1:]
	})
	return text + ";\n"
}

// pgbench runs scripts of statements on the application's database, as its role and
// under the claim of an organization, which is set once for each connection.
type pgbench struct {
	url, file string
	env, vars []string
}

func newPgbench(t testing.TB, database string, org principal.OrgID, script string, vars map[string]string) pgbench {
	t.Helper()
	u, err := url.Parse(database)
	require.NoError(t, err)
	password, _ := u.User.Password()
	p := pgbench{file: filepath.Join(t.TempDir(), "script.sql")}
	p.env = append(os.Environ(), "PGPASSWORD="+password, "PGOPTIONS=-c app.org="+org.String())
	u.User = url.User(u.User.Username())
	p.url = u.String()
	require.NoError(t, os.WriteFile(p.file, []byte(script), 0o600))
	for name, value := range vars {
		p.vars = append(p.vars, "-D", name+"="+value)
	}
	return p
}

var tps = regexp.MustCompile(`tps = ([\d.]+)`)

// rate runs the script n times over as many connections as the other side has, and
// returns how often a second.
func (p pgbench) rate(n int) (float64, error) {
	args := append([]string{"-n", "-M", "prepared", "-c", strconv.Itoa(connections), "-j", strconv.Itoa(connections), "-t", strconv.Itoa(n / connections), "-f", p.file}, p.vars...)
	cmd := exec.Command("pgbench", append(args, p.url)...)
	cmd.Env = p.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("pgbench: %w\n%s", err, out)
	}
	found := tps.FindSubmatch(out)
	if found == nil {
		return 0, fmt.Errorf("pgbench says no rate:\n%s", out)
	}
	return strconv.ParseFloat(string(found[1]), 64)
}
