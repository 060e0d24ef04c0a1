package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

const (
	base62    = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	base32    = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	base64URL = base62 + "-_"
)

// redactDrawn returns n characters of an alphabet, the same ones in every run. Keys
// in tests are drawn, so that none is in the source for others to find.
func redactDrawn(seed uint64, alphabet string, n int) string {
	rnd := rand.New(rand.NewPCG(seed, 7))
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[rnd.IntN(len(alphabet))]
	}
	return string(b)
}

// redactHit is a secret and the name that it goes by.
type redactHit struct{ name, secret string }

func hits() []redactHit {
	pem := func(kind string, lines int, newline string) string {
		var b strings.Builder
		b.WriteString("-----BEGIN " + kind + "-----" + newline)
		for i := range lines {
			b.WriteString(redactDrawn(uint64(900+i), base62+"+/", 64) + newline)
		}
		return b.String() + redactDrawn(990, base62, 30) + "==" + newline + "-----END " + kind + "-----"
	}
	jwt := "eyJ" + redactDrawn(1, "hijklmnopqrstuvwxyz", 1) + redactDrawn(2, base62, 32) + ".eyJ" + redactDrawn(3, base64URL, 60) + "." + redactDrawn(4, base64URL, 43)
	return []redactHit{
		{"openai_key", "sk-" + redactDrawn(10, base62, 48)},
		{"openai_key", "sk-proj-" + redactDrawn(11, base64URL, 120)},
		{"openai_key", "sk-svcacct-" + redactDrawn(12, base64URL, 120)},
		{"openai_key", "sk-None-" + redactDrawn(13, base62, 48)},
		{"openai_key", "sk-or-v1-" + redactDrawn(14, "0123456789abcdef", 64)},
		{"openai_key", "sk-" + redactDrawn(15, "0123456789abcdef", 32)},
		{"openai_key", "sk-" + redactDrawn(16, base62, 20)},
		{"anthropic_key", "sk-ant-api03-" + redactDrawn(20, base64URL, 93) + "AA"},
		{"anthropic_key", "sk-ant-admin01-" + redactDrawn(21, base64URL, 93)},
		{"anthropic_key", "sk-ant-oat01-" + redactDrawn(22, base64URL, 93)},
		{"aws_access_key", "AKIA" + redactDrawn(30, base32, 16)},
		{"aws_access_key", "ASIA" + redactDrawn(31, base32, 16)},
		{"aws_access_key", "AKIA" + "IOSFODNN7EXAMPLE"},
		{"github_token", "ghp_" + redactDrawn(40, base62, 36)},
		{"github_token", "gho_" + redactDrawn(41, base62, 36)},
		{"github_token", "ghs_" + redactDrawn(42, base62, 36)},
		{"github_token", "ghu_" + redactDrawn(43, base62, 36)},
		{"github_token", "ghr_" + redactDrawn(44, base62, 76)},
		{"github_token", "github_pat_" + redactDrawn(45, base62, 22) + "_" + redactDrawn(46, base62, 59)},
		{"slack_token", "xoxb-" + redactDrawn(50, "0123456789", 12) + "-" + redactDrawn(51, "0123456789", 12) + "-" + redactDrawn(52, base62, 24)},
		{"slack_token", "xoxa-2-" + redactDrawn(53, base62, 40)},
		{"slack_token", "xoxp-" + redactDrawn(54, "0123456789", 11) + "-" + redactDrawn(55, "0123456789abcdef", 32)},
		{"slack_token", "xoxr-" + redactDrawn(56, base62, 40)},
		{"slack_token", "xoxs-" + redactDrawn(57, base62, 40)},
		{"google_api_key", "AIza" + redactDrawn(60, base64URL, 35)},
		{"google_api_key", "AIza" + "Sy" + redactDrawn(61, base62, 33)},
		{"assay_key", "asy_live_" + redactDrawn(70, base62, 12) + "_" + redactDrawn(71, base62, 32) + "_" + redactDrawn(72, base62, 6)},
		{"assay_key", "asy_test_" + redactDrawn(73, base62, 12) + "_" + redactDrawn(74, base62, 32) + "_" + redactDrawn(75, base62, 6)},
		{"assay_key", "asy_live_" + redactDrawn(76, base62, 12) + "_" + redactDrawn(77, base62, 9)}, // cut off
		{"stripe_key", "sk_live_" + redactDrawn(80, base62, 24)},
		{"stripe_key", "rk_live_" + redactDrawn(81, base62, 99)},
		{"private_key", pem("PRIVATE KEY", 25, "\n")},
		{"private_key", pem("RSA PRIVATE KEY", 25, "\n")},
		{"private_key", pem("EC PRIVATE KEY", 2, "\r\n")},
		{"private_key", pem("OPENSSH PRIVATE KEY", 6, "\n")},
		{"private_key", pem("ENCRYPTED PRIVATE KEY", 9, "\n")},
		{"private_key", pem("PGP PRIVATE KEY BLOCK", 30, "\n")},
		{"private_key", pem("PRIVATE KEY", 4, `\n`)},
		{"private_key", pem("PRIVATE KEY", 4, `\\n`)},
		{"private_key", "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123456789ABCDEF\n\n" + redactDrawn(91, base62, 64) + "\n-----END RSA PRIVATE KEY-----"},
		{"jwt", jwt},
		{"jwt", "eyJ0" + redactDrawn(100, base62, 20) + "." + redactDrawn(101, base64URL, 40) + "." + redactDrawn(102, base64URL, 86)},
		{"jwt", "eyJh" + redactDrawn(103, base62, 40) + "." + redactDrawn(104, base64URL, 50) + "." + redactDrawn(105, base64URL, 16) + "." + redactDrawn(106, base64URL, 80) + "." + redactDrawn(107, base64URL, 22)},
		{"card_number", "4111111111111111"},
		{"card_number", "4111 1111 1111 1111"},
		{"card_number", "4111-1111-1111-1111"},
		{"card_number", "4012888888881881"},
		{"card_number", "4222222222222"},
		{"card_number", "4222 2222 22222"},
		{"card_number", "5555555555554444"},
		{"card_number", "5105 1051 0510 5100"},
		{"card_number", "2223003122003222"},
		{"card_number", "2720-9900-0000-0007"},
		{"card_number", "378282246310005"},
		{"card_number", "3782 822463 10005"},
		{"card_number", "3714-496353-98431"},
		{"card_number", "30569309025904"},
		{"card_number", "3056 930902 5904"},
		{"card_number", "3852 0000 0232 37"},
		{"card_number", "6011111111111117"},
		{"card_number", "6011 0009 9013 9424"},
		{"card_number", "3530111333300000"},
		{"card_number", "3566 0020 2036 0505"},
		{"card_number", "6200000000000005"},
		{"card_number", "6205500000000000004"},
		{"card_number", "6759649826438453"},
		{"card_number", "6304 0000 0000 0000"},
		{"card_number", "2200 0000 0000 0004"},
		{"card_number", "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"},
		{"card_number", "41111111 11111111"},
		{"card_number", "411111 1111111111"},
	}
}

// redactClean are texts that look like secrets and are none.
func redactClean() []string {
	rnd := rand.New(rand.NewPCG(5, 6))
	image := make([]byte, 6000)
	for i := range image {
		image[i] = byte(rnd.Uint32())
	}
	return []string{
		"", " ", "a", "sk-", "AKIA", "Bearer", "Bearer ", "bearer", "eyJ", "-----BEGIN", "4111", "xoxb-", "asy_", "AIza", "ghp_", "github_pat_",
		"The quick brown fox jumps over the lazy dog.",
		"We should ask the risk desk to unmask the task-based workflow before the disk-full alarm.",
		"sk-learn", "sk-container-id-1", "sk-toggleable__label-arrow", "sk-estimator-doc-link fitted", "div.sk-fading-circle-container-large",
		"class=\"sk-text-repr-fallback sk-parallel-item-wrapped\"",
		"sk-ssh-ed25519-cert-v01@openssh.com", "sk-ecdsa-sha2-nistp256-cert-v01@openssh.com", "sk-circle-fade-dot-2024-01-01-large",
		"sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "sk-...", "sk-<your key here>", "sk-XXXXXXXXXXXXXXXXXXXXXXXX",
		"desk-" + redactDrawn(200, base62, 48), "task-" + redactDrawn(201, base62, 30), "risk_live_" + redactDrawn(202, base62, 30),
		"pk_live_" + redactDrawn(203, base62, 24), "sk_live_short", "task_live_" + redactDrawn(204, base62, 24), "sk_live_" + "the_name_of_a_variable",
		"AKIAshort", "AKIA" + redactDrawn(205, base32, 15), "AKIA" + redactDrawn(206, base32, 17), "xAKIA" + redactDrawn(207, base32, 16),
		"AKIA" + redactDrawn(208, base32, 16) + "a", "MAKIAVELLI AND THE ASIAN MARKETS", "ASIAPACIFIC", "AKIA_" + redactDrawn(209, base32, 16),
		"ghp_" + redactDrawn(210, base62, 20), "high_priority", "ghost_town", "ghs_alpha_beta_gamma_delta_epsilon_zeta_eta", "github_pat_handler_for_requests_v2",
		"xoxo-love-and-kisses", "xoxb-abc", "foxoxb-" + redactDrawn(211, "0123456789", 20), "proxoxp",
		"AIza" + redactDrawn(212, base64URL, 20), "AIza" + redactDrawn(213, base62, 60), "organization", "AIzaleas in the garden",
		"asy_live_" + redactDrawn(214, base62, 12), // an id without a secret is public
		"asy_prod_" + redactDrawn(215, base62, 12) + "_" + redactDrawn(216, base62, 32), "easy_live_" + redactDrawn(217, base62, 12) + "_" + redactDrawn(218, base62, 32),
		"asy_live_chat_room_for_the_whole_team", "async_test_runner_with_a_long_name_indeed",
		"-----BEGIN PRIVATE KEY-----", "Look for a line that says -----BEGIN RSA PRIVATE KEY----- in the file.",
		"-----BEGIN CERTIFICATE-----\n" + redactDrawn(219, base62, 64) + "\n-----END CERTIFICATE-----",
		"-----BEGIN PUBLIC KEY-----\n" + redactDrawn(220, base62, 64) + "\n-----END PUBLIC KEY-----",
		"-----BEGIN PRIVATE KEY-----\nsee the vault\n-----END PRIVATE KEY-----",
		strings.Repeat("-", 200), "|------|:-----:|------|", "BEGIN PRIVATE KEY",
		"eyJhbGciOiJub25lIn0", "eyJpZCI6NDIsIm5leHQiOnRydWV9", "eyJhbGci.short.x", "https://keyJets.example.com/path.to.file", "heyJude.and.others",
		"eyJh" + redactDrawn(221, base62, 100), "eyJh" + redactDrawn(222, base62, 30) + "." + redactDrawn(223, base62, 30),
		"Bearer token", "bearer of bad news and good tidings", "The bearer authentication-mechanism-of-choice is fine.", "Bearer $OPENAI_API_KEY",
		"Bearer ${TOKEN_FROM_ENVIRONMENT}", "Bearer <access token goes here>", "Bearer JwtBearerDefaults.AuthenticationScheme", "Bearer YOUR_API_KEY_HERE_PLEASE",
		"bearers 12345678901234567890", "forbearer " + redactDrawn(224, base62, 32), "unbearable-circumstances-in-2024",
		uuid.NewSHA1(uuid.Nil, []byte("a")).String(), "f47ac10b-58cc-4372-a567-0e02b2c3d479", "12345678-4111-1111-1111-111111111111", "41111111-1111-1111-1111-111111111111",
		"a1b2c3d4-4111-1111-1111-111111111111", "deadbeef-4111111111111111", "bucket-4242424242424242", "4111111111111111-x", "( 10894 4603 1700 1700 5 )", "6550 6551 6552 6553 6554 6555 6556", "1021 4111 1111 1111 1111", "4111111111111111-deadbeef", "00-4bf92f3577b34da6a3ce929d0e0e4736-4111111111111111-01",
		"4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", "a4111111111111111", "4111111111111111f", "0x4111111111111111", "id_4111111111111111", "4111111111111111_1",
		"1723000000000", "1723000000000000", "1723000000000000000", "1700000000", "2026-11-15T05:33:03.123456789Z", "2026-11-15 05:33:03.123456 +0000", "20261115053303123",
		"2024-08-06 12:34:56,789 4012 888", "[2019 2020 2021 2022 2023 2024]", "0.4111111111111111", "3.4111111111111111", "-0.4111111111111111e-7", "4111111111111111.5", "4111111111111111e10", "1.4111111111111111",
		".4111111111111111", "4111111111111112", "4111 1111 1111 1112", "411111111111111", "41111111111111111", "44111111111111111111", strings.Repeat("4111111111111111", 2),
		"9111111111111111", "1111 1111 1111 1117", "0000000000000000", "9999999999999995", "7000000000000005",
		"-4111111111111111", "+4111111111111111", "+49 1512 3456789", "tel:+4915123456789", "+1 415 555 2671", "(415) 555-2671", "020 7946 0958",
		"978-3-16-148410-0", "9783161484100", "DE89 3704 0044 0532 0130 00", "192.168.100.200", "10.0.0.1:443", "2001:0db8:85a3:0000:0000:8a2e:0370:7334",
		"4611686018427387904", "-4611686018427387904", "4611686018427387903", "trace 4819227385620193855", "4000000000000000006", "18446744073709551615", "9223372036854775807",
		"41 11 11 11 11 11 11 11", "4,111,111,111,111,111", "4111  1111  1111  1111", "4111\t1111\t1111\t1111", "4111--1111--1111--1111", "4.111111111111111",
		strings.Repeat("4111 1111 1111 1111 ", 6), // a table of numbers
		"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "git show 5ada4d6f0b1c2d3e4f5061728394a5b6c7d8e9f0",
		"data:image/png;base64," + base64.StdEncoding.EncodeToString(image), base64.RawURLEncoding.EncodeToString(image), hex.EncodeToString(image), fmt.Sprint([]uint16{4111, 1111, 1112, 1111, 255, 0, 17}),
		"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
		"https://example.com/orders?id=1723000000000&page=4&token_type=bearer", "max_tokens=4096 top_p=0.95 seed=1234567890123",
		"SELECT * FROM cards WHERE last4 = '1111' AND brand = 'visa' LIMIT 1000000000000", "[0.0123456789, -0.9876543210, 4.111111111111111e-05]",
		"卡号是什么？", "пароль не найден", "ключ: ———", "[redacted:card_number] [redacted:openai_key]", "Bearer [redacted:bearer_token]",
		"\xff\xfe\x00\x01", "\u00204111", "100%4111",
		string(agentText(30_000)),
	}
}

func TestRedactTextFindsSecrets(t *testing.T) {
	t.Parallel()
	r := redactRuled(t)
	around := []struct{ before, after string }{
		{"", ""},
		{"my key is ", " and nothing else"},
		{"key=", "&next=1"},
		{`{"a":"`, `"}`},
		{`\n`, `\n`},
		{`\u0022`, `\u0022`},
		{`%22`, `%22`},
		{"\x1b[01;31m", "\x1b[0m"},
		{"(", ")."},
		{"«", "»"},
		{"卡号", "。"},
		{"a\n", "\r\n"},
		{"<", ">"},
		{strings.Repeat("x", 61) + "=", ";" + strings.Repeat("y", 63)},
	}
	n := 0
	for _, hit := range hits() {
		for _, c := range around {
			for pad := range 9 { // every place in a word of the pass
				text := strings.Repeat(".", pad) + " " + c.before + hit.secret + c.after
				want := strings.Repeat(".", pad) + " " + c.before + "[redacted:" + hit.name + "]" + c.after
				out, changed := r.Text(nil, []byte(text))
				require.True(t, changed, "%s in %q", hit.name, text)
				require.Equal(t, want, string(out), hit.name)
				n++
			}
		}
	}
	require.GreaterOrEqual(t, len(hits()), 60)
	require.Equal(t, len(hits())*len(around)*9, n)
}

func TestRedactTextLeavesTheRest(t *testing.T) {
	t.Parallel()
	r := redactRuled(t)
	for _, text := range redactClean() {
		for _, before := range []string{"", " ", "x: ", "(\"", "...."} {
			v := []byte(before + text)
			out, changed := r.Text(nil, v)
			require.False(t, changed, "%q became %q", v, out)
			require.Equal(t, before+text, string(out))
			if len(v) > 0 {
				require.Same(t, &v[0], &out[0], "the text itself is returned")
			}
		}
	}
	require.GreaterOrEqual(t, len(redactClean()), 150)
}

func TestRedactText(t *testing.T) {
	t.Parallel()
	r := redactRuled(t)
	key := "sk-" + redactDrawn(300, base62, 48)
	token := redactDrawn(301, base64URL, 40)

	for name, c := range map[string]struct{ text, want string }{
		"several secrets go, each by its name": {
			key + ", 4111 1111 1111 1111 and " + key, "[redacted:openai_key], [redacted:card_number] and [redacted:openai_key]",
		},
		"the word Bearer stays":                {"Authorization: Bearer " + token, "Authorization: Bearer [redacted:bearer_token]"},
		"Bearer in any case":                   {"authorization: bEARER  " + token, "authorization: bEARER  [redacted:bearer_token]"},
		"Bearer in an address":                 {"h=Bearer%20" + token, "h=Bearer%20[redacted:bearer_token]"},
		"a bearer's key has a name of its own": {"Bearer " + key, "Bearer [redacted:openai_key]"},
		"a bearer's token of letters only":     {"Bearer qWeRtYuIoPaSdFgHjKlZxCvB", "Bearer [redacted:bearer_token]"},
		"a bearer's JWT":                       {"Bearer eyJh" + redactDrawn(302, base62, 20) + "." + token + "." + token, "Bearer [redacted:jwt]"},
		"a date and a code after a card stay":  {"4111 1111 1111 1111 12 25 123", "[redacted:card_number] 12 25 123"},
		"a date of four digits":                {"4111 1111 1111 1111 1225 123", "[redacted:card_number] 1225 123"},
		"a number before a card stays":         {"2 x 1 4111 1111 1111 1111", "2 x 1 [redacted:card_number]"},
		"cards in a list":                      {"4111111111111111,5555555555554444;378282246310005", "[redacted:card_number],[redacted:card_number];[redacted:card_number]"},
		"cards side by side":                   {"4111 1111 1111 1111 5555 5555 5555 4444", "[redacted:card_number] [redacted:card_number]"},
		"cards on lines":                       {"4111111111111111\n5555555555554444\n", "[redacted:card_number]\n[redacted:card_number]\n"},
		"a card at the end of a sentence":      {"It is 4111111111111111.", "It is [redacted:card_number]."},
		"a card with 19 digits in groups":      {"4000 0000 0000 0000 006", "[redacted:card_number]"},
		"a PEM block that was cut off": {
			"-----BEGIN PRIVATE KEY-----\n" + redactDrawn(303, base62, 64) + "\n" + redactDrawn(304, base62, 20), "[redacted:private_key]",
		},
		"a PEM block that was cut off in the middle": {
			"-----BEGIN PRIVATE KEY-----\n" + redactDrawn(303, base62, 64) + " ... and so on", "[redacted:private_key] ... and so on",
		},
		"a key that a card seems to be part of": {"sk-4111111111111111-" + redactDrawn(305, base62, 20), "[redacted:openai_key]"},
		"secrets that touch":                    {key + "=" + key + "=", "[redacted:openai_key]=[redacted:openai_key]="},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, changed := r.Text(nil, []byte(c.text))
			require.Equal(t, c.want, string(out))
			require.True(t, changed)
		})
	}

	t.Run("scratch is written over", func(t *testing.T) {
		t.Parallel()
		scratch := append(make([]byte, 0, 1024), "what was there before"...)
		out, changed := r.Text(scratch, []byte("a "+key))
		require.True(t, changed)
		require.Equal(t, "a [redacted:openai_key]", string(out))
		require.Same(t, &scratch[0], &out[0])
	})

	t.Run("hostile text does not cost the square of its length: this ends", func(t *testing.T) {
		t.Parallel()
		for _, piece := range []string{
			"4111111111111111 ", "4111 1111 1111 1111 ", "4 ", "4", "41-", "-----BEGIN PRIVATE KEY-----", "-----BEGIN ", "sk-", "sk-a.", "eyJhaaaaaaaaaa.", "Bearer ", "bearer%20",
			"secret", `secret"`, `secret\`, "token", "AKIA ", "ghp_", "xoxb-1-", "asy_live_aaaaaaaaaaaa_", "\\u00", "4111111111111111-", "-4111111111111111", "{\"secret\":",
		} {
			text := bytes.Repeat([]byte(piece), 1_000_000/len(piece))
			out, _ := r.Text(nil, text)
			require.NotEmpty(t, out)
			out, _ = r.JSONText(nil, text)
			require.NotEmpty(t, out)
		}
	})
}

//nolint:paralleltest // allocations of other tests would be counted
func TestRedactCleanTextWithoutAllocation(t *testing.T) {
	r := redactRuled(t, agentRules...)
	text, doc := agentText(30<<10), agentDocument(t, 30<<10)
	require.Zero(t, testing.AllocsPerRun(20, func() {
		_, _ = r.Text(nil, text)
		_, _ = r.JSONText(nil, doc)
		_ = r.Key([]byte("http.request.header.authorization"))
	}))
}

func TestNewRedactor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rule Rule
		want string
	}{
		"no name":           {Rule{Key: "a"}, "redaction rule 1 has no name"},
		"neither":           {Rule{Name: "x"}, "redaction rule 1 requires either key or pattern"},
		"both":              {Rule{Name: "x", Key: "a", Pattern: "b"}, "redaction rule 1 requires either key or pattern"},
		"a pattern not RE2": {Rule{Name: "x", Pattern: `(?=a)`}, "redaction rule 1 must be a regular expression of the RE2 syntax"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := New([]Rule{c.rule})
			require.ErrorContains(t, err, c.want)
		})
	}

	t.Run("a name cannot break out of its mark", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, "[redacted:a_b__c__d é]", redactMark("a\"b\\]c\n[d é"))
	})
}

// TestThePrefilterIsWhatFinds takes the pairs of one sign after another out of
// the table. If its secrets were still found, the tests above would say nothing
// about the table.
func TestThePrefilterIsWhatFinds(t *testing.T) {
	t.Parallel()
	missed := func(r *Redactor) (names map[string]int) {
		names = map[string]int{}
		for _, hit := range hits() {
			out, _ := r.Text(nil, []byte("x "+hit.secret))
			if !strings.Contains(string(out), "[redacted:"+hit.name+"]") {
				names[hit.name]++
			}
		}
		return names
	}
	whole := missed(redactRuled(t))
	require.Empty(t, whole)

	of := map[string]int{}
	for _, hit := range hits() {
		of[hit.name]++
	}
	for name, n := range of {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var rest []redactSign
			for _, s := range redactSecrets() {
				if s.mark != redactMark(name) {
					rest = append(rest, s)
				}
			}
			r := redactRuled(t)
			r.texts = newRedactTable(rest, name != "card_number")
			require.Equal(t, map[string]int{name: n}, missed(r))
		})
	}

	t.Run("each sign is met at an even and at an odd place", func(t *testing.T) {
		t.Parallel()
		for _, s := range append(redactSecrets(), redactNames()...) {
			require.Equal(t, 1, (s.pairs[0]+s.pairs[1])%2, s.text)
			require.GreaterOrEqual(t, s.least, redactWord)
		}
	})
	t.Run("with one pair of two a secret is lost at every second place", func(t *testing.T) {
		t.Parallel()
		signs := redactSecrets()
		for i := range signs {
			signs[i].pairs[0] = signs[i].pairs[1]
		}
		r := redactRuled(t)
		r.texts = newRedactTable(signs, true)
		key := "sk-" + redactDrawn(400, base62, 48)
		var found []bool
		for pad := range 4 {
			_, changed := r.Text(nil, []byte(strings.Repeat(" ", pad)+key))
			found = append(found, changed)
		}
		require.Equal(t, []bool{false, true, false, true}, found)
	})
}
