package redact

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRedactJSON(t *testing.T) {
	t.Parallel()
	r := redactRuled(t, Rule{Name: "patient", Key: "patient_name"}, Rule{Name: "employee", Pattern: `\bEMP-\d{6}\b`},
		Rule{Name: "two_lines", Pattern: `Room\n\d+`}, Rule{Name: "whole", Pattern: `^\QMRN"7\E\d+$`})
	key := "sk-" + redactDrawn(500, base62, 48)
	token := redactDrawn(501, base62+"+/", 40)

	for name, c := range map[string]struct{ doc, want string }{
		"a secret in a string":                      {`{"a":"x ` + key + ` y"}`, `{"a":"x [redacted:openai_key] y"}`},
		"a secret in a list":                        {`[1,"` + key + `",null]`, `[1,"[redacted:openai_key]",null]`},
		"a secret in a name":                        {`{"` + key + `":1}`, `{"[redacted:openai_key]":1}`},
		"a secret in two names":                     {`[{"` + key + `":1,"b":{"` + key + `":2},"a ` + key + `":3,"[redacted:openai_key]":4,"a [redacted:openai_key]":5}]`, `[{"[redacted:openai_key]":1,"b":{"[redacted:openai_key]":2},"a [redacted:openai_key]":3,"[redacted:openai_key]#2":4,"a [redacted:openai_key]#2":5}]`},
		"a secret as the document":                  {`"` + key + `"`, `"[redacted:openai_key]"`},
		"spaces and numbers stay as they are":       {" { \"a\" : [ 1.50 , 1e3 ] ,\n\t\"b\" : \"" + key + "\" } ", " { \"a\" : [ 1.50 , 1e3 ] ,\n\t\"b\" : \"[redacted:openai_key]\" } "},
		"a card number as a number":                 {`{"card":4111111111111111,"n":4111111111111112}`, `{"card":"[redacted:card_number]","n":4111111111111112}`},
		"a member by its name":                      {`{"password":"hunter2","user":"ann"}`, `{"password":"[redacted:password]","user":"ann"}`},
		"a name with spaces before the colon":       {"{\"password\" \n: \"hunter2\"}", "{\"password\" \n: \"[redacted:password]\"}"},
		"a name in any case":                        {`{"PassWord":"x","API_KEY":"y","x-Api-Key":"z"}`, `{"PassWord":"[redacted:password]","API_KEY":"[redacted:api_key]","x-Api-Key":"[redacted:api_key]"}`},
		"names of one word or two":                  {`{"apiKey":"a","apikey":"b","accessToken":"c","refresh-token":"d","privateKey":"e"}`, `{"apiKey":"[redacted:api_key]","apikey":"[redacted:api_key]","accessToken":"[redacted:access_token]","refresh-token":"[redacted:refresh_token]","privateKey":"[redacted:private_key]"}`},
		"headers":                                   {`{"Authorization":"Basic YTpi","Cookie":"s=1","Set-Cookie":["a","b"]}`, `{"Authorization":"[redacted:authorization]","Cookie":"[redacted:cookie]","Set-Cookie":"[redacted:cookie]"}`},
		"a name at the end of another":              {`{"http.request.header.authorization":["x"],"db_password":"y","clientSecret":"z"}`, `{"http.request.header.authorization":"[redacted:authorization]","db_password":"[redacted:password]","clientSecret":"[redacted:secret]"}`},
		"a whole object":                            {`{"secret":{"a":[1,{"b":"c"}]},"d":1}`, `{"secret":"[redacted:secret]","d":1}`},
		"a number":                                  {`{"secret":12345}`, `{"secret":"[redacted:secret]"}`},
		"deep inside":                               {`[[{"a":{"b":[{"passwd":"x"}]}}]]`, `[[{"a":{"b":[{"passwd":"[redacted:password]"}]}}]]`},
		"an organization's key":                     {`{"Patient_Name":"Ann","patient":{"patient_name":true}}`, `{"Patient_Name":"[redacted:patient]","patient":{"patient_name":"[redacted:patient]"}}`},
		"an organization's key after a dot":         {`{"visit.patient_name":"Ann"}`, `{"visit.patient_name":"[redacted:patient]"}`},
		"an organization's pattern":                 {`{"a":"by EMP-123456"}`, `{"a":"by [redacted:employee]"}`},
		"a pattern that spans lines":                {`{"a":"Room\n12 is"}`, `{"a":"[redacted:two_lines] is"}`},
		"a pattern with a quotation mark":           {`["MRN\"7001","x MRN\"7001"]`, `["[redacted:whole]","x MRN\"7001"]`},
		"a document in a string":                    {`{"arguments":"{\"password\":\"hunter2\",\"n\":1}"}`, `{"arguments":"{\"password\":\"[redacted:password]\",\"n\":1}"}`},
		"a document in a string of a document":      {`["[\"{\\\"api_key\\\":\\\"x\\\"}\"]"]`, `["[\"{\\\"api_key\\\":\\\"[redacted:api_key]\\\"}\"]"]`},
		"a card number in a document in a string":   {`{"arguments":"{\"card\": 4111111111111111}"}`, `{"arguments":"{\"card\": \"[redacted:card_number]\"}"}`},
		"text that begins like a document":          {`["{not json ` + key + `"]`, `["{not json [redacted:openai_key]"]`},
		"escaped slashes in a token":                {`{"h":"Bearer ` + strings.ReplaceAll(token, "/", `\/`) + `"}`, `{"h":"Bearer [redacted:bearer_token]"}`},
		"a secret after an escape":                  {`{"a":"\n` + key + `\u0022"}`, `{"a":"\n[redacted:openai_key]\""}`},
		"an escaped name":                           {`{"pass\u0077ord":"x","password":"y"}`, `{"pass\u0077ord":"[redacted:password]","password":"[redacted:password]"}`},
		"the same name twice":                       {`{"secret":"x","secret":"y"}`, `{"secret":"[redacted:secret]","secret":"[redacted:secret]"}`},
		"not JSON is text":                          {`{"a": ` + key + ` 4111111111111111`, `{"a": [redacted:openai_key] [redacted:card_number]`},
		"two documents are text":                    {`{"a":"` + key + `"} {"b":1}`, `{"a":"[redacted:openai_key]"} {"b":1}`},
		"a PEM block, its lines ended by escapes":   {`{"k":"-----BEGIN PRIVATE KEY-----\n` + redactDrawn(502, base62, 64) + `\n-----END PRIVATE KEY-----\n"}`, `{"k":"[redacted:private_key]\n"}`},
		"a PEM block that was cut off in its value": {`{"k":"-----BEGIN PRIVATE KEY-----\n` + redactDrawn(502, base62, 64) + `","l":"m"}`, `{"k":"[redacted:private_key]","l":"m"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, changed := r.JSONText(nil, []byte(c.doc))
			require.Equal(t, c.want, string(out))
			require.True(t, changed)
			require.Equal(t, json.Valid([]byte(c.doc)), json.Valid(out))

			again, changed := r.JSONText(nil, out)
			require.False(t, changed, "%s", again)
		})
	}

	for _, doc := range []string{
		``, ` `, `{}`, `[]`, `null`, `1`, `"a"`, `{"a":1}`, `{`, `"`, `{"password":null}`, `{"has_password":true,"is_secret":false}`, `{"secret":"[redacted:secret]"}`,
		`{"passwords":1,"secretary":"Ann","cookies":true,"token":"abc","max_tokens":5,"total_tokens":7,"access":"full","authorized":true,"key":"k","private":true}`,
		`{"text":"the password: hunter2"}`, `{"text":"\"password\" is a word"}`, `["password","secret"]`, `{"a":"password"}`, `{"nosecret":1,"topsecret":2,"monkey":3}`,
		`{"patient_names":1,"patient":{"name":"Ann"}}`, `{"timestamp":1723000000000,"id":"f47ac10b-58cc-4372-a567-0e02b2c3d479","x":0.4111111111111111}`,
		"{\"a\":\"\xff\xfe\"}", `{"a":"\ud800"}`,
	} {
		t.Run("clean "+doc, func(t *testing.T) {
			t.Parallel()
			v := []byte(doc)
			out, changed := r.JSONText(nil, v)
			require.False(t, changed, "%s", out)
			require.Equal(t, doc, string(out))
			if len(v) > 0 {
				require.Same(t, &v[0], &out[0])
			}
		})
	}

	t.Run("every secret is found in a string of a document", func(t *testing.T) {
		t.Parallel()
		for _, hit := range hits() {
			for pad := range 9 {
				before := strings.Repeat(".", pad) + "\n"
				doc, err := json.Marshal(map[string]string{"content": before + hit.secret + " <end>"})
				require.NoError(t, err)
				out, changed := r.JSONText(nil, doc)
				require.True(t, changed, "%s", doc)
				var got map[string]string
				require.NoError(t, json.Unmarshal(out, &got))
				require.Equal(t, before+"[redacted:"+hit.name+"] <end>", got["content"])
			}
		}
	})

	t.Run("documents in strings are followed to a limit", func(t *testing.T) {
		t.Parallel()
		doc := `{"password":"x"}`
		for depth := range 8 {
			out, changed := r.JSONText(nil, []byte(doc))
			require.Equal(t, depth <= redactDepth, changed, "%d: %s", depth, out)
			quoted, err := json.Marshal([]string{doc})
			require.NoError(t, err)
			doc = string(quoted)
		}
	})

	t.Run("the names that a probe knows are the names that key knows", func(t *testing.T) {
		t.Parallel()
		for _, w := range keyWords {
			for _, joint := range []string{"", "_", "-", "."} {
				name := strings.ReplaceAll(w.word, "|", joint)
				for _, name := range []string{name, strings.ToUpper(name), strings.ToUpper(name[:1]) + name[1:], "x." + name, "x-" + name, "x_" + name} {
					require.True(t, r.Key([]byte(name)), name)
					for pad := range 9 {
						doc := strings.Repeat(" ", pad) + `{"` + name + `":"v"}`
						out, changed := r.JSONText(nil, []byte(doc))
						require.True(t, changed, doc)
						require.Contains(t, string(out), w.mark)
					}
				}
			}
		}
	})
}

func TestRedactKey(t *testing.T) {
	t.Parallel()
	r := redactRuled(t, Rule{Name: "mail", Key: "user.email"}, Rule{Name: "tax", Key: "СНИЛС"})
	for _, name := range []string{
		"password", "Password", "PASSWORD", "passwd", "user_password", "user.password", "user-password", "userPassword", "secret", "client_secret", "clientSecret", "api_key", "apikey", "apiKey", "api-key", "API_KEY",
		"x-api-key", "XApiKey", "openai_api_key", "OPENAI_API_KEY", "authorization", "Authorization", "proxy-authorization", "http.request.header.authorization", "http.request.header.Authorization",
		"access_token", "accessToken", "access-token", "refresh_token", "refreshToken", "private_key", "privateKey", "ssh.private-key", "cookie", "Cookie", "set-cookie", "Set-Cookie", "setCookie",
		"http.response.header.set-cookie", "http.request.header.cookie", "aws_secret_access_key", "secretAccessKey", "secret_key", "user.email", "User.Email", "llm.user.email", "СНИЛС", "снилс", "a.снилс",
	} {
		require.True(t, r.Key([]byte(name)), name)
	}
	for _, name := range []string{
		"", "a", "key", "token", "tokens", "gen_ai.usage.input_tokens", "passwords", "password_hash_algorithm", "secretary", "nosecret", "topsecret", "monkey", "api_keys", "apikeys", "authorized", "authorization_code_flow", "access", "access_tokens",
		"accesstokens", "refresh", "private", "cookies", "cookie_count", "rookie", "okcookies", "email", "useremail", "user.emails", "xuser.email", "http.request.header.content-type", "author", "llm.token_count.total", "gen_ai.request.model", "\xff\xfe", "passwörd",
	} {
		require.False(t, r.Key([]byte(name)), name)
	}
}
