package devenv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// toolPatience bounds an installation: the slowest tool compiles for minutes on
// a small machine, and a download that hangs would take the test's whole time.
const toolPatience = 10 * time.Minute

// Tool returns the path of a tool that dev/tool pins, which it installs when it
// is missing.
func Tool(name string) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), toolPatience)
	defer cancel()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, filepath.Join(root, "dev", "tool"), name) //nolint:gosec // a test names the tool, and dev/tool knows a fixed list
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("dev/tool %s: %w\n%s", name, errors.Join(err, ctx.Err()), bytes.TrimSpace(stderr.Bytes()))
	}
	return strings.TrimSpace(string(out)), nil
}
