//go:build !linux && !darwin && !freebsd && !netbsd && !openbsd && !dragonfly

package terminal

import "os"

// size says that no file is a terminal: output is plain on other systems.
func size(*os.File) (columns int, isTerminal bool) { return 0, false }
