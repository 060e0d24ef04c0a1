//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package terminal

import "os"

// Hide reports false: this system has no way to keep what is typed from being
// shown.
func Hide(*os.File) (restore func(), hidden bool) { return func() {}, false }
