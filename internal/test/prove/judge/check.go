package judge

import (
	"context"
	"errors"
	"fmt"

	"github.com/assayhq/assay/internal/command/client/api"
	"github.com/assayhq/assay/internal/test/prove/rig"
)

// verdict is what became of cases.
type verdict struct {
	runs, singles, verdicts, calls int

	missing  int // cases without a verdict
	doubled  int // cases with more than one
	wrong    int // verdicts that are not what they must be, and runs that say something else
	repeated int // answers that were asked for again
	extra    int // calls that no crash excuses

	rig.Examples
}

func (v verdict) String() string {
	return fmt.Sprintf("checked: runs %d singles %d verdicts %d calls %d missing %d doubled %d wrong %d repeated %d extra %d",
		v.runs, v.singles, v.verdicts, v.calls, v.missing, v.doubled, v.wrong, v.repeated, v.extra)
}

// guilty is an error if anything is not as it must be.
func (v verdict) guilty() error {
	if v.missing+v.doubled+v.wrong+v.extra == 0 && v.verdicts > 0 {
		return nil
	}
	return fmt.Errorf("%s\n%s", v, v.Examples)
}

// hold holds a verdict against what it must be.
func (v *verdict) hold(u unit, r api.JudgeResult) {
	code := ""
	if r.Error != nil {
		code = r.Error.Code
		if r.Error.Message == "" {
			v.wrong++
			v.Example("%s has the code %q and no words", u.name, code)
		}
	}
	if why := u.wrong(r.Status, r.Score, code); why != "" {
		v.wrong++
		v.Example("%s", why)
	}
}

// verdict ends the load, and compares what ClickHouse has and what the provider was
// asked with what was said.
func (p *proof) verdict(ctx context.Context) (verdict, error) {
	v, err := p.results(ctx)
	if err != nil {
		return v, err
	}
	crashes := p.s.Downs()
	repeated, again := p.s.provider.oracle.Repeated(crashes)
	v.repeated = repeated
	v.extra += len(again)
	for _, text := range again {
		v.Example("%s", text)
	}
	if len(again) > 0 {
		for _, c := range crashes {
			v.Example("%s was down from %s to %s", c.What, c.Began.Format(rig.Clock), c.End.Format(rig.Clock))
		}
	}
	return v, nil
}

// results is the verdict that does not ask when the provider was asked.
func (p *proof) results(ctx context.Context) (verdict, error) {
	l := p.load
	l.end()
	if err := l.complaint(); err != nil {
		return l.verdict, errors.Join(err, l.verdict.guilty())
	}
	for _, one := range l.singles {
		one.find(ctx)
	}
	if err := p.stored(ctx); err != nil {
		return l.verdict, err
	}
	p.called()
	return l.verdict, nil
}

// called holds the calls of the provider against the cases: each is asked once, and
// repaired once where its answer cannot be used.
func (p *proof) called() {
	v, asked := &p.load.verdict, p.s.provider.oracle.Asked()
	look := func(u unit) {
		v.calls += asked[u.name] + asked[u.name+repair]
		if n := asked[u.name+repair]; n > 0 && !u.repaired {
			v.extra += n
			v.Example("%s was repaired %d times, and its answer could be used", u.name, n)
		}
		if asked[u.name] == 0 || u.repaired && asked[u.name+repair] == 0 {
			v.missing++
			v.Example("the provider was not asked about %s as it had to be", u.name)
		}
	}
	for _, j := range p.load.runs {
		for _, u := range j.units {
			look(u)
		}
	}
	for _, one := range p.load.singles {
		look(one.unit)
	}
}

// stored counts the verdicts of every run in ClickHouse, and the single ones.
func (p *proof) stored(ctx context.Context) error {
	v := &p.load.verdict
	type count struct{ rows, cases uint64 }
	found, singles := map[string]count{}, uint64(0)
	query := func() error {
		clear(found)
		rows, err := p.s.scores.Query(ctx, "SELECT concat(toString(org_id), '/', subject), count(), uniqExact(part) FROM scores FINAL WHERE kind = 'run_item' AND source = 'judge' GROUP BY 1")
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var of string
			var c count
			if err := rows.Scan(&of, &c.rows, &c.cases); err != nil {
				return err
			}
			found[of] = c
		}
		if err := rows.Err(); err != nil {
			return err
		}
		names := make([]string, len(p.load.singles))
		for i, one := range p.load.singles {
			names[i] = one.input()
		}
		return p.s.scores.QueryRow(ctx, "SELECT count() FROM scores FINAL WHERE kind != 'run_item' AND source = 'judge' AND has(?, JSONExtractString(detail, 'input'))", names).Scan(&singles)
	}
	if err := rig.UntilUp(ctx, query); err != nil {
		return err
	}
	for _, j := range p.load.runs {
		c := found[j.org.ID+"/"+j.run]
		if c.rows > c.cases {
			v.doubled += int(c.rows - c.cases)
			v.Example("ClickHouse has %d verdicts of %d cases of run %s", c.rows, c.cases, j.run)
		}
		if int(c.cases) < len(j.units) {
			v.missing += len(j.units) - int(c.cases)
			v.Example("ClickHouse has verdicts of %d cases of run %s, which has %d", c.cases, j.run, len(j.units))
		}
	}
	if int(singles) > len(p.load.singles) {
		v.doubled += int(singles) - len(p.load.singles)
		v.Example("ClickHouse has %d verdicts of %d single requests", singles, len(p.load.singles))
	}
	return nil
}
