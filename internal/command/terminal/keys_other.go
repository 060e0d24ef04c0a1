//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package terminal

import "os"

// Keys reports false: on this system keys are read with the lines that they are on.
func Keys(*os.File) (restore func(), single bool) { return func() {}, false }
