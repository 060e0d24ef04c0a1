package bench

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// Get is the text of a GET request.
func Get(path, key string) []byte {
	return []byte("GET " + path + " HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer " + key + "\r\n\r\n")
}

// Post is the text of a POST request.
func Post(path, key, body string) []byte {
	return fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, key, len(body), body)
}

// Conn is an HTTP connection that costs its process little, since what the
// client costs hides what the server does. It reads what net/http writes.
type Conn struct {
	conn net.Conn
	in   *bufio.Reader
	body []byte
}

// NewConn speaks HTTP over a connection.
func NewConn(c net.Conn) *Conn {
	return &Conn{conn: c, in: bufio.NewReaderSize(c, 64<<10)}
}

var (
	lengthHeader  = []byte("Content-Length: ")
	chunkedHeader = []byte("Transfer-Encoding: chunked")
	errAnswer     = errors.New("the answer is not one that net/http writes")
)

// Do sends a request and returns the answer's status and body. The body is
// valid until the next call.
func (c *Conn) Do(request []byte) (int, []byte, error) {
	if _, err := c.conn.Write(request); err != nil {
		return 0, nil, err
	}
	line, err := c.line()
	if err != nil {
		return 0, nil, err
	}
	if len(line) < 12 {
		return 0, nil, errAnswer
	}
	status, err := strconv.Atoi(string(line[9:12]))
	if err != nil {
		return 0, nil, errAnswer
	}
	length, chunked := 0, false
	for {
		if line, err = c.line(); err != nil {
			return 0, nil, err
		}
		if len(line) == 0 {
			break
		}
		if text, ok := bytes.CutPrefix(line, lengthHeader); ok {
			if length, err = strconv.Atoi(string(text)); err != nil {
				return 0, nil, errAnswer
			}
		}
		chunked = chunked || bytes.Equal(line, chunkedHeader)
	}
	c.body = c.body[:0]
	if !chunked {
		err := c.read(length)
		return status, c.body, err
	}
	for {
		if line, err = c.line(); err != nil {
			return 0, nil, err
		}
		n, err := strconv.ParseUint(string(line), 16, 31)
		if err != nil {
			return 0, nil, errAnswer
		}
		if err := c.read(int(n)); err != nil {
			return 0, nil, err
		}
		if _, err := c.line(); err != nil {
			return 0, nil, err
		}
		if n == 0 {
			return status, c.body, nil
		}
	}
}

func (c *Conn) line() ([]byte, error) {
	line, err := c.in.ReadSlice('\n')
	return bytes.TrimRight(line, "\r\n"), err
}

// read appends n bytes to the body.
func (c *Conn) read(n int) error {
	from := len(c.body)
	if need := from + n; need > cap(c.body) {
		c.body = append(make([]byte, 0, 2*need), c.body...)
	}
	c.body = c.body[:from+n]
	_, err := io.ReadFull(c.in, c.body[from:])
	return err
}

// Load sends requests over several connections at once, in turn.
type Load struct {
	Conns    []*Conn
	Requests [][]byte
	Now      func() time.Time
}

// Rate sends n requests and returns how many a second were answered. Every
// answer must be a success.
func (l Load) Rate(n int) (float64, error) {
	var next atomic.Int64
	var g errgroup.Group
	start := l.Now()
	for _, c := range l.Conns {
		g.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return nil
				}
				status, body, err := c.Do(l.Requests[i%len(l.Requests)])
				if err != nil {
					return err
				}
				if status/100 != 2 {
					return fmt.Errorf("status %d: %.200s", status, body)
				}
			}
		})
	}
	err := g.Wait()
	return float64(n) / l.Now().Sub(start).Seconds(), err
}
