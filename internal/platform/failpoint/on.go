//go:build failpoints

package failpoint

import (
	"os"
	"strings"
	"syscall"
)

// file names the point that kills the process; it is read at every point, so
// that a proof can set a trap in a process that runs.
var file = os.Getenv("ASSAY_DEV_FAILPOINT_FILE")

// Hit ends the process like a power cut if the file names the point. The trap
// springs once: the file is emptied first.
func Hit(p Point) {
	if file == "" {
		return
	}
	text, err := os.ReadFile(file)
	if err != nil || strings.TrimSpace(string(text)) != string(p) {
		return
	}
	_ = os.WriteFile(file, nil, 0o600)
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // the signal takes a moment
}
