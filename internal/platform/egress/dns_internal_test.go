package egress

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// zone maps a name to its answers, one after the other; the last one stays.
type zone map[string][][]string

// nameServer answers A and AAAA questions over UDP, as an attacker's name
// server would: with any address, and with another one each time.
type nameServer struct {
	conn  *net.UDPConn
	mu    sync.Mutex
	zone  zone
	asked map[string]int // by name and question type
}

func newNameServer(t *testing.T, z zone) *nameServer {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	s := &nameServer{conn: conn, zone: z, asked: map[string]int{}}
	t.Cleanup(func() { _ = conn.Close() })
	go s.serve()
	return s
}

// resolver asks this server and no other.
func (s *nameServer) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp4", s.conn.LocalAddr().String())
	}}
}

func (s *nameServer) serve() {
	buf := make([]byte, 1500)
	for {
		n, from, err := s.conn.ReadFromUDPAddrPort(buf)
		if err != nil {
			return
		}
		if out := s.answer(buf[:n]); out != nil {
			_, _ = s.conn.WriteToUDPAddrPort(out, from)
		}
	}
}

func (s *nameServer) answer(q []byte) []byte {
	const header = 12
	if len(q) < header {
		return nil
	}
	var labels []string
	end := header
	for end < len(q) && q[end] != 0 {
		size := int(q[end])
		if end+1+size >= len(q) {
			return nil
		}
		labels = append(labels, string(q[end+1:end+1+size]))
		end += 1 + size
	}
	end += 5 // the root label, type and class
	if end > len(q) {
		return nil
	}
	name := strings.ToLower(strings.Join(labels, "."))
	kind := binary.BigEndian.Uint16(q[end-4:])
	addrs, known := s.next(name, kind)

	out := append([]byte{q[0], q[1], 0x84, 0, 0, 1, 0, 0, 0, 0, 0, 0}, q[header:end]...)
	if !known {
		out[3] = 3 // no such name
		return out
	}
	count := uint16(0)
	for _, a := range addrs {
		if (kind == 1) != a.Is4() || kind != 1 && kind != 28 {
			continue
		}
		count++
		out = append(out, 0xc0, header) // the name of the question
		out = binary.BigEndian.AppendUint16(out, kind)
		out = append(out, 0, 1, 0, 0, 0, 0) // class IN, time to live 0
		out = binary.BigEndian.AppendUint16(out, uint16(a.BitLen()/8))
		out = append(out, a.AsSlice()...)
	}
	binary.BigEndian.PutUint16(out[6:], count)
	return out
}

func (s *nameServer) next(name string, kind uint16) ([]netip.Addr, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answers, known := s.zone[name]
	if !known {
		return nil, false
	}
	key := name + string(rune(kind))
	turn := min(s.asked[key], len(answers)-1)
	s.asked[key]++
	var out []netip.Addr
	for _, text := range answers[turn] {
		out = append(out, netip.MustParseAddr(text))
	}
	return out, true
}
