//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// Hide keeps a terminal from showing what is typed, until restore is called. For
// a file that is not a terminal it reports false.
func Hide(f *os.File) (restore func(), hidden bool) {
	fd := int(f.Fd())
	mode, err := unix.IoctlGetTermios(fd, getMode)
	if err != nil {
		return func() {}, false
	}
	quiet := *mode
	quiet.Lflag &^= unix.ECHO
	if err := unix.IoctlSetTermios(fd, setMode, &quiet); err != nil {
		return func() {}, false
	}
	return func() { _ = unix.IoctlSetTermios(fd, setMode, mode) }, true
}
