package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// volume is a disk of its own for one folder, so that it can be filled without
// filling the machine's. It is a file system in a file, which forces bytes to
// the disk as any other does.
type volume struct {
	name, folder string
	sudo         bool
}

// addVolume mounts a volume at a folder. Where the user may not mount, the
// folder is plain, and what needs a full disk is not proven.
func (s *system) addVolume(ctx context.Context, name, folder string, size int64) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	image := filepath.Join(s.State, name+".img")
	f, err := os.Create(image)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Truncate(size), f.Close()); err != nil {
		return err
	}
	for _, sudo := range []bool{false, true} {
		v := &volume{name: name, folder: folder, sudo: sudo}
		if v.command(ctx, "mkfs.ext4", "-q", "-F", "-m", "0", image) != nil || v.command(ctx, "mount", "-o", "loop", image, folder) != nil {
			continue
		}
		s.volumes = append(s.volumes, v)
		s.OnRemove(v.unmount)
		return v.command(ctx, "chown", fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid()), folder)
	}
	return os.Remove(image)
}

// command runs a command as root.
func (v *volume) command(ctx context.Context, args ...string) error {
	if v.sudo {
		args = append([]string{"sudo", "-n"}, args...)
	}
	if out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", args[0], err, out)
	}
	return nil
}

func (v *volume) unmount() error { return v.command(context.Background(), "umount", v.folder) }

// volume finds the volume of a name, if there is one.
func (s *system) volume(name string) *volume {
	for _, v := range s.volumes {
		if v.name == name {
			return v
		}
	}
	return nil
}

func (v *volume) ballast() string { return filepath.Join(v.folder, "ballast") }

// fill takes all the room that is left, and may be repeated.
func (v *volume) fill() (err error) {
	f, err := os.OpenFile(v.ballast(), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	at, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	// Room is only promised, not written.
	for piece := int64(1 << 30); piece >= 4096; {
		switch err := syscall.Fallocate(int(f.Fd()), 0, at, piece); {
		case err == nil:
			at += piece
		case errors.Is(err, syscall.ENOSPC):
			piece /= 2
		case !errors.Is(err, syscall.EINTR):
			return err
		}
	}
	return nil
}

func (v *volume) free() error { return os.Remove(v.ballast()) }
