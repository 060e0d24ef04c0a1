package traffic

import (
	"math/rand/v2"
	"strings"
)

// common are words in about the order of how often people write them.
var common = strings.Fields(`
the of to and a in is it you that for was on are with as i be at one have this from or had by but what some we can out
other were all there when up use your how said an each she which do their time if will way about many then them would so
like has look two more write go see number no could people my than first water been call who its now find long down day did
get come made may part over new take only little work know place year live me back give most very after thing our just name
good sentence man think say great where help through much before line right too mean old any same tell boy follow came want
show also around form three small set put end does another well large must big even such because turn here why ask went men
read need land different home us move try kind hand picture again change off play spell air away animal house point page
letter mother answer found study still learn should world high every near add food between own below country plant last
school father keep tree never start city earth eye light thought head under story saw left few while along might close
something seem next hard open example begin life always those both paper together got group often run important until
children side feet car mile night walk white sea began grow took river four carry state once book hear stop without second
late miss idea enough eat face watch far really almost let above girl sometimes mountain cut young talk soon list song being
leave family`)

// technical are stems of what is spoken of at work; with their forms they are
// most of the vocabulary.
var technical = strings.Fields(`
account address agent alert allocate amount analyse annotate answer approve archive argue array assert assign attach audit
author balance batch bill book branch budget buffer build bundle cache cancel capture category certify chain change channel
charge chart check claim class clean client cluster collect column combine commit compare compile complain complete compute
condition confirm connect consider constrain consume contact contain contract convert copy correct count create credit
customer damage data date deadline debug decide declare decline default defer define delay delete deliver depend deploy
describe design detail detect develop device diagnose differ direct disable discount discuss dispatch display document
domain draft drop duplicate edit effect employ enable encode encrypt engine enrich ensure enter error escalate estimate
evaluate event exceed except exchange execute expect expire explain export expose extend extract fail feature feedback fetch
field file filter final fix flag flow focus forecast format forward frame freight function gateway generate grant guard
guide handle header hint host ignore image import improve include index infer inform input insert inspect install instance
instruct insure integrate interest invoice issue item iterate join judge kernel key label latency launch layer lease ledger
legal level library licence limit link load locate lock log loop manage manual map margin market match measure member memory
merchant merge message meter method migrate minute mistake model module monitor month mount negotiate network node notice
notify object observe offer office open operate option order organise output overview owner pack page parcel parse partner
patch pattern pause payment percent perform permit person phone pipeline plan platform policy portal post predict prefer
prepare present preserve price print priority process product profile program project promise prompt propose protect prove
provide publish purchase quality quantity query question queue quote range rank rate reason receipt receive recommend record
recover reduce refer refund refuse region register reject release remain remind remove render renew repair replace replicate
reply report request require research reserve reset resolve resource respond restore result retain retrieve retry return
reveal review revise risk role rotate route row rule sample save scale schedule schema scope score screen script search
secret section secure select send separate sequence serve service session settle share shard ship signal sign simulate size
skill snapshot solve sort source span specify split stage standard status step stock storage store stream structure submit
subscribe suggest summary supply support surface suspend switch system table tag target task team temperature template tenant
term test thread threshold ticket timeout token tolerate topic total trace track train transfer translate transport travel
trigger trust type understand unit update upgrade upload usage user validate value vendor verify version view volume
voucher wait warehouse warn warrant weight widget window workflow worker wrap zone`)

// vocabulary is every word, the most frequent first: what everybody says, then
// the forms of what is said at work.
var vocabulary = func() []string {
	all := append([]string(nil), common...)
	all = append(all, technical...)
	for _, form := range []func(string) string{
		func(w string) string { return w + "s" },
		func(w string) string { return strings.TrimSuffix(w, "e") + "ed" },
		func(w string) string { return strings.TrimSuffix(w, "e") + "ing" },
		func(w string) string { return strings.TrimSuffix(w, "e") + "er" },
		func(w string) string { return "re" + w },
		func(w string) string { return strings.TrimSuffix(w, "e") + "able" },
		func(w string) string { return "pre" + w },
		func(w string) string { return w + "less" },
		func(w string) string { return "un" + strings.TrimSuffix(w, "e") + "ed" },
		func(w string) string { return "sub" + w },
		func(w string) string { return w + "-side" },
		func(w string) string { return "multi-" + w },
	} {
		for _, w := range technical {
			all = append(all, form(w))
		}
	}
	return all
}()

// writer writes text whose words are as unevenly frequent as those of a
// language, with turns of phrase and with a subject that it keeps coming back
// to, so that it is about as compressible as what people write.
type writer struct {
	rand    *rand.Rand
	zipf    *rand.Zipf
	phrases []string
	phrase  *rand.Zipf
	subject []string
}

func newWriter(seed, stream uint64) *writer {
	r := rand.New(rand.NewPCG(seed, stream))
	w := &writer{rand: r, zipf: rand.NewZipf(r, 1.05, 2.7, uint64(len(vocabulary)-1))}
	for range 3000 {
		words := make([]string, w.between(2, 4))
		for i := range words {
			words[i] = w.word()
		}
		w.phrases = append(w.phrases, strings.Join(words, " "))
	}
	w.phrase = rand.NewZipf(r, 1.05, 2.7, uint64(len(w.phrases)-1))
	w.turnTo()
	return w
}

// turnTo begins another subject.
func (w *writer) turnTo() {
	w.subject = w.subject[:0]
	for range 40 {
		w.subject = append(w.subject, w.word())
	}
}

func (w *writer) word() string { return vocabulary[w.zipf.Uint64()] }

// stem is a word of the trade, each as frequent as the next.
func (w *writer) stem() string { return technical[w.rand.IntN(len(technical))] }

func (w *writer) pick(from ...string) string { return from[w.rand.IntN(len(from))] }

// between is a number from low to high.
func (w *writer) between(low, high int) int { return low + w.rand.IntN(high-low+1) }

const hexDigits = "0123456789abcdef"

// hex appends n random digits.
func (w *writer) hex(b []byte, n int) []byte {
	for range n {
		b = append(b, hexDigits[w.rand.IntN(16)])
	}
	return b
}

func (w *writer) digits(b []byte, n int) []byte {
	for range n {
		b = append(b, byte('0'+w.rand.IntN(10)))
	}
	return b
}

// uuid is an id as most systems write them.
func (w *writer) uuid() []byte {
	var b []byte
	for i, n := range []int{8, 4, 4, 4, 12} {
		if i > 0 {
			b = append(b, '-')
		}
		b = w.hex(b, n)
	}
	return b
}

// sentence appends a sentence and a blank.
func (w *writer) sentence(b []byte) []byte {
	from := len(b)
	n := w.between(5, 20)
	for i := range n {
		if i > 0 {
			b = append(b, ' ')
		}
		switch k := w.rand.IntN(40); {
		case k == 0:
			b = w.digits(b, w.between(1, 5))
		case k == 1:
			b = append(w.digits(append(b, strings.ToUpper(w.stem()[:3])...), 6), '-', byte('A'+w.rand.IntN(26)))
		case k == 2:
			b = append(append(append(b, '"'), w.word()...), '"')
		case k == 3:
			b = append(append(append(append(b, '`'), w.stem()...), '_'), w.stem()...)
			b = append(b, '`')
		case k < 12:
			b = append(b, w.phrases[w.phrase.Uint64()]...)
		case k < 20:
			b = append(b, w.subject[w.rand.IntN(len(w.subject))]...)
		default:
			b = append(b, w.word()...)
		}
		if i > 2 && i < n-2 && w.rand.IntN(9) == 0 {
			b = append(b, ',')
		}
	}
	if c := b[from]; c >= 'a' && c <= 'z' {
		b[from] = c - 'a' + 'A'
	}
	b = append(b, w.pick(".", ".", ".", ".", "?", "!", ":")...)
	return append(b, ' ')
}

// text appends paragraphs of about n bytes; some are lists.
func (w *writer) text(b []byte, n int) []byte {
	for end := len(b) + n; len(b) < end; {
		if w.rand.IntN(5) == 0 {
			for range w.between(2, 5) {
				b = append(b, "- "...)
				b = append(w.sentence(b), '\n')
			}
		} else {
			for range w.between(1, 5) {
				b = w.sentence(b)
			}
		}
		b = append(b, '\n')
	}
	return b
}
