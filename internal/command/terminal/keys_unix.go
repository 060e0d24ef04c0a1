//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// Keys lets a program read single keys from a terminal, without showing them, until
// restore is called. Ctrl-C is a key like others. For a file that is not a terminal it
// reports false.
func Keys(f *os.File) (restore func(), single bool) {
	fd := int(f.Fd())
	mode, err := unix.IoctlGetTermios(fd, getMode)
	if err != nil {
		return func() {}, false
	}
	keys := *mode
	keys.Lflag &^= unix.ECHO | unix.ICANON | unix.ISIG
	keys.Cc[unix.VMIN], keys.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(fd, setMode, &keys); err != nil {
		return func() {}, false
	}
	return func() { _ = unix.IoctlSetTermios(fd, setMode, mode) }, true
}
