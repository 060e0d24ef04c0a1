package egress

// hostile URLs, one per line. PORT is a port that is open on every address of
// this machine and that the configuration allows, so the address is all that
// speaks against them.
//
// The URLs of a live group connect when nothing stands in their way. Those of
// the others come to nothing in Go by themselves, and would live in a client
// with another parser or resolver.
var hostile = []struct {
	group string
	live  bool
	urls  string
}{
	{"loopback", true, `
		https://127.0.0.1:PORT/
		https://127.0.0.2:PORT/
		https://127.1.2.3:PORT/hook?x=1
		https://127.255.255.254:PORT/
		https://0.0.0.0:PORT/
		HTTPS://127.0.0.1:PORT/
		http://127.0.0.1:PORT/
		http://[::1]:PORT/
		https://[::1]:PORT/
		https://[::]:PORT/
		https://[0:0:0:0:0:0:0:1]:PORT/
		https://[0000:0000:0000:0000:0000:0000:0000:0001]:PORT/
		https://[::0001]:PORT/
		https://[::ffff:127.0.0.1]:PORT/
		https://[::ffff:7f00:1]:PORT/
		https://[::FFFF:7F00:0001]:PORT/
		https://[0:0:0:0:0:ffff:127.0.0.1]:PORT/
		https://[::ffff:0.0.0.0]:PORT/
		https://localhost:PORT/
		https://LOCALHOST:PORT/
		https://localhost.:PORT/`},
	{"cloud metadata", true, `
		https://169.254.169.254/latest/meta-data/
		http://169.254.169.254/latest/meta-data/iam/security-credentials/
		https://169.254.170.2/v2/credentials
		https://169.254.169.123/
		https://100.100.100.200/latest/meta-data/
		https://192.0.0.192/opc/v2/instance/
		https://168.63.129.16/machine?comp=goalstate
		https://[fd00:ec2::254]/latest/meta-data/
		https://[fd20:ce::254]/computeMetadata/v1/
		https://[::ffff:169.254.169.254]/
		https://[::ffff:a9fe:a9fe]/
		https://metadata.google.internal/computeMetadata/v1/`},
	{"private and special IPv4", true, `
		https://10.0.0.1/
		https://10.255.255.255/
		https://172.16.0.1/
		https://172.31.255.255/
		https://192.168.0.1/
		https://192.168.255.255/
		https://100.64.0.1/
		https://100.127.255.255/
		https://0.1.2.3/
		https://192.0.0.8/
		https://192.0.2.1/
		https://198.51.100.7/
		https://203.0.113.7/
		https://192.88.99.1/
		https://198.18.0.1/
		https://198.19.255.255/
		https://224.0.0.1/
		https://239.255.255.250/
		https://240.0.0.1/
		https://255.255.255.255/`},
	{"private and special IPv6", true, `
		https://[fc00::1]/
		https://[fd12:3456:789a::1]/
		https://[fe80::1]/
		https://[febf::1]/
		https://[fec0::1]/
		https://[ff02::1]/
		https://[100::1]/
		https://[2001::1]/
		https://[2001:0:7f00:1::]/
		https://[2001:20::1]/
		https://[2001:db8::1]/
		https://[3fff::1]/
		https://[5f00::1]/
		https://[4000::1]/`},
	{"IPv4 inside IPv6", true, `
		https://[64:ff9b::7f00:1]/
		https://[64:ff9b::127.0.0.1]/
		https://[64:ff9b::10.0.0.1]/
		https://[64:ff9b:1::7f00:1]/
		https://[2002:7f00:1::]/
		https://[2002:a00:1::1]/
		https://[2002:a9fe:a9fe::]/
		https://[::7f00:1]/
		https://[::127.0.0.1]/
		https://[::ffff:0:127.0.0.1]/
		https://[::ffff:10.0.0.1]/
		https://[::ffff:192.168.1.1]/`},
	{"names that lead inside", true, `
		https://loopback.hostile.test:PORT/
		https://LoopBack.Hostile.Test:PORT/
		https://loopback.hostile.test.:PORT/
		https://loopback6.hostile.test:PORT/
		https://mapped.hostile.test:PORT/
		https://zero.hostile.test:PORT/
		https://zero6.hostile.test:PORT/
		https://metadata.hostile.test/
		https://metadata6.hostile.test/
		https://ten.hostile.test/
		https://cgnat.hostile.test/
		https://nat64.hostile.test/
		https://sixtofour.hostile.test/
		https://compatible.hostile.test/
		https://linklocal.hostile.test/
		https://broadcast.hostile.test/
		https://azure.hostile.test/
		https://mixed.hostile.test:PORT/
		https://mixed6.hostile.test:PORT/
		https://many.hostile.test:PORT/
		https://127.0.0.1.nip.hostile.test:PORT/
		https://xn--hostile-9za.test:PORT/
		http://loopback.hostile.test:PORT/
		http://public.hostile.test/
		https://intranet:PORT/
		https://db.svc.cluster.local:PORT/`},
	{"numbers that resolvers take for addresses", true, `
		https://0x7f.1:PORT/
		https://0x7f000001:PORT/
		https://0X7F.0.0.1:PORT/
		https://127.0.0.0x1:PORT/
		https://0x7f.0x0.0x0.0x1:PORT/`},
	{"numbers that Go refuses itself", false, `
		https://2130706433:PORT/
		https://017700000001:PORT/
		https://0177.0.0.1:PORT/
		https://0177.0.0.01:PORT/
		https://127.1:PORT/
		https://127.0.1:PORT/
		https://127.000.000.001:PORT/
		https://0:PORT/
		https://3232235521/
		https://2852039166/
		https://127.0.0.1.:PORT/
		https://256.256.256.256/
		https://425.510.425.510/`},
	{"letters that become digits and dots", true, `
		https://①②⑦.⓪.⓪.①:PORT/
		https://１２７.０.０.１:PORT/
		https://127。0。0。1:PORT/
		https://127．0．0．1:PORT/
		https://127｡0｡0｡1:PORT/
		https://%E2%91%A0%E2%91%A1%E2%91%A6.0.0.1:PORT/
		https://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ:PORT/
		https://ｌｏｃａｌｈｏｓｔ:PORT/
		https://loopback。hostile。test:PORT/`},
	{"places to hide a host", true, `
		https://example.com@127.0.0.1:PORT/
		https://user:secret@127.0.0.1:PORT/
		https://example.com:443@127.0.0.1:PORT/
		https://:@127.0.0.1:PORT/
		https://127.0.0.1:PORT#@example.com/
		https://127.0.0.1:PORT?@example.com/
		https://127.0.0.1:PORT/..//@example.com
		https://127.0.0.1:0PORT/`},
	{"what no parser should take", false, `
		https:127.0.0.1:PORT
		https:/127.0.0.1:PORT/
		https:///127.0.0.1:PORT/
		https:////127.0.0.1:PORT/
		//127.0.0.1:PORT/
		127.0.0.1:PORT
		https://127.0.0.1:PORT\@example.com/
		https://example.com\@127.0.0.1:PORT/
		https://127.0.0.1 :PORT/
		https://127.0.0.1%20:PORT/
		https://127.0.0.1%00.example.com:PORT/
		https://%31%32%37.0.0.1:PORT/
		https://[127.0.0.1]:PORT/
		https://[::1:PORT/
		https://::1:PORT/
		https://[::1]@:PORT/
		https://[::1]example.com:PORT/
		https://[v1.x]:PORT/
		https://127.0.0.1:PORT:443/
		https://127.0.0.1:65536/
		https://127.0.0.1:-1/
		https://127.0.0.1:0/
		https://
		https://:PORT/
		https://./
		https://..:PORT/
		https://a..b:PORT/`},
	{"zones", false, `
		https://[fe80::1%25lo]:PORT/
		https://[::1%25lo]:PORT/
		https://[fe80::1%25eth0]/
		https://[fe80::1%2525eth0]/`},
	{"other schemes", false, `
		ftp://127.0.0.1:PORT/
		file:///etc/passwd
		gopher://127.0.0.1:PORT/_x
		dict://127.0.0.1:PORT/stat
		ldap://127.0.0.1:PORT/
		ws://127.0.0.1:PORT/
		wss://127.0.0.1:PORT/
		unix:///var/run/docker.sock
		http+unix://%2Fvar%2Frun%2Fdocker.sock/
		jar:https://127.0.0.1:PORT!/
		data:text/plain,hello
		javascript:alert(1)
		h2c://127.0.0.1:PORT/
		https+insecure://127.0.0.1:PORT/`},
	{"ports of other services", true, `
		https://93.184.216.34:22/
		https://93.184.216.34:25/
		https://93.184.216.34:80/
		https://93.184.216.34:6379/
		https://93.184.216.34:6443/
		https://93.184.216.34:10250/
		https://public.hostile.test:9200/
		http://93.184.216.34/`},
}

// answers are those of the attacker's name server. Numbers and short names get
// what a system's resolver makes of them.
func answers() zone {
	one := func(addrs ...string) [][]string { return [][]string{addrs} }
	return zone{
		"public.hostile.test": one("93.184.216.34"), "loopback.hostile.test": one("127.0.0.1"),
		"loopback6.hostile.test": one("::1"), "mapped.hostile.test": one("::ffff:127.0.0.1"),
		"zero.hostile.test": one("0.0.0.0"), "zero6.hostile.test": one("::"),
		"metadata.hostile.test": one("169.254.169.254"), "metadata6.hostile.test": one("fd00:ec2::254"),
		"ten.hostile.test": one("10.1.2.3"), "cgnat.hostile.test": one("100.64.1.1"),
		"nat64.hostile.test": one("64:ff9b::7f00:1"), "sixtofour.hostile.test": one("2002:7f00:1::"),
		"compatible.hostile.test": one("::7f00:1"), "linklocal.hostile.test": one("fe80::1"),
		"broadcast.hostile.test": one("255.255.255.255"), "azure.hostile.test": one("168.63.129.16"),
		"mixed.hostile.test": one("93.184.216.34", "127.0.0.1"), "mixed6.hostile.test": one("93.184.216.34", "::1"),
		"many.hostile.test":          one("10.0.0.1", "172.16.0.1", "192.168.0.1", "127.0.0.1"),
		"127.0.0.1.nip.hostile.test": one("127.0.0.1"),
		"xn--hostile-9za.test":       one("127.0.0.1"),
		"localhost":                  one("127.0.0.1"),
		"intranet":                   one("127.0.0.1"),
		"db.svc.cluster.local":       one("127.0.0.1"),
		"metadata.google.internal":   one("169.254.169.254"),
		"0x7f.1":                     one("127.0.0.1"),
		"0x7f000001":                 one("127.0.0.1"),
		"0x7f.0.0.1":                 one("127.0.0.1"),
		"127.0.0.0x1":                one("127.0.0.1"),
		"0x7f.0x0.0x0.0x1":           one("127.0.0.1"),
	}
}
