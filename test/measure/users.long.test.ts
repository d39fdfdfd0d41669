import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { HarnessError } from '../../src/errors.ts'
import { parseEndpoint } from '../../src/judge/endpoint.ts'
import { openMeteredModels } from '../../src/judge/metered-models.ts'
import { copyForUser, type SideUsers } from '../../src/measure/isolation/side-users.ts'
import { buildUserWorkspace } from '../../src/measure/session.ts'
import { drawTurns, type StopRule } from '../../src/model/order.ts'
import type { Report } from '../../src/model/report.ts'
import { type Experiment, laboratory } from './laboratory.ts'
import { completion, meteredEndpoint } from '../servers/metered-endpoint.ts'
import { carrying, PATH } from './processes.ts'
import { scratch } from './scratch.ts'
import { isRoot, throwAwayUsers } from './throw-away-users.ts'
import { selectCases } from '../support/cases.ts'

/** Does what src/act.sh says before it answers. */
const ACTING = {
  'bench.sh': '. src/act.sh\necho "{\\"bytes\\": $(cat src/value)}"\n',
  'src/act.sh': ':\n',
  'src/value': '100\n',
}
const alone = { rule: 'alone' } as const

/** Asks with the key that it was given and with a stolen one, and looks for the real one in every process. */
const ASKING_HARNESS = `import { readdirSync, readFileSync } from 'node:fs'
const { OPENAI_BASE_URL, OPENAI_API_KEY } = process.env
const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x' }], max_tokens: 10 })
const ask = async key => {
  const headers = { authorization: 'Bearer ' + key }
  return (await fetch(OPENAI_BASE_URL + '/chat/completions', { method: 'POST', headers, body })).status
}
const read = path => { try { return readFileSync(path, 'latin1') } catch { return '' } }
const pids = readdirSync('/proc').filter(name => /^\\d+$/.test(name))
const seen = pids.flatMap(pid => ['environ', 'cmdline'].map(file => read('/proc/' + pid + '/' + file)))
const leaked = seen.filter(text => text.includes(['sk', 'the', 'real', 'key'].join('-'))).length
const answered = await ask(OPENAI_API_KEY)
const refused = await ask(OPENAI_API_KEY + '0')
console.log(JSON.stringify({ bytes: process.getuid(), answered, leaked, refused }))
`

/** A laboratory whose sides have users of their own. */
async function settled() {
  const lab = await laboratory()
  const users = throwAwayUsers()
  const lodging = buildUserWorkspace(users, lab.workDir)
  const measure = (experiment: Experiment): Promise<Report> =>
    lab.measure({ ...experiment, input: { ...lodging, ...experiment.input } })
  const acting = (script: string, rest: Partial<Experiment> = {}) =>
    measure({
      files: ACTING,
      candidates: { 'exp-001': { 'src/act.sh': `${script}\n`, 'src/value': '50\n' } },
      ...rest,
    })
  return { lab, users, lodging, measure, acting }
}

const errorsIn = ({ executions }: Report) => executions.flatMap(({ output }) => output?.stderr ?? [])
const numbersOf = ({ owners }: SideUsers) => owners.map(({ uid }) => uid)

/** A folder in which everybody may write, and which is no folder that is swept. */
function openScratch(): string {
  const dir = scratch()
  chmodSync(dir, 0o777)
  return dir
}

describe.skipIf(!isRoot)('a side with a user of its own', () => {
  test('is measured as that user, which a coin chose, and the report does not say that it was not', async () => {
    const { measure, users, lab } = await settled()
    const files = {
      'bench.sh': 'echo "{\\"bytes\\": $(id -u), \\"groups\\": $(id -G)}"\n',
      'src/value': '1\n',
    }
    const candidates = { 'exp-001': { 'src/value': '2\n' }, 'exp-002': { 'src/value': '3\n' } }
    const report = await measure({ files, candidates })
    expect(report).toMatchObject({ tampered: null, runner_error: null })
    expect(report.flags).not.toContain('unisolated')
    const { order } = await lab.input({ files, candidates })
    const drawn = drawTurns(order, 'users', users.owners)
    const ran = ['base', 'exp-001', 'exp-002'].map(
      side => report.executions.find(execution => execution.side === side)?.metrics,
    )
    expect(ran).toMatchObject(drawn.slice(0, 3).map(({ uid, gid }) => ({ bytes: uid, groups: gid })))
  })

  test('asks models with the key of its execution, and finds the real one nowhere', async () => {
    const key = 'sk-the-real-key'
    // What winnow itself looks like to a side: a process of root with the key in its environment.
    const winnow = spawn('sleep', ['600'], { env: { WINNOW_MODEL_KEY: key }, stdio: 'ignore' })
    onTestFinished(() => void winnow.kill('SIGKILL'))
    const endpoint = await meteredEndpoint(() => ({ body: completion([10, 10]) }))
    const models = await openMeteredModels({
      endpoint: parseEndpoint(endpoint.url, key),
      key,
      prices: new Map([['m', { input: 1, output: 1 }]]),
      capUsd: null,
      before: { requests: 0, tokens: 0, usd: 0 },
      executionCapUsd: null,
      web: (url, options) => fetch(url, options),
      random: { hex: () => crypto.randomUUID(), fraction: () => 0 },
      record: () => {},
    })
    onTestFinished(() => models.close())
    const { measure, users } = await settled()
    const report = await measure({
      files: { 'bench.mjs': ASKING_HARNESS, 'src/value': '1\n' },
      candidates: { 'exp-001': { 'src/value': '2\n' } },
      spec: {
        models: [{ id: 'm' }],
        metric: { primary: { name: 'bytes', direction: 'minimize' } },
        measurement: { command: `exec ${process.execPath} bench.mjs`, models: 'metered' },
      },
      input: { models, env: { PATH, HOME: '/root', WINNOW_MODEL_KEY: key } },
    })
    expect(report).toMatchObject({ tampered: null, runner_error: null })
    expect(report.flags).not.toContain('unisolated')
    expect(new Set(report.executions.map(({ side }) => side))).toEqual(new Set(['base', 'exp-001']))
    for (const { status, metrics } of report.executions) {
      expect([status, metrics]).toEqual([
        'ok',
        expect.objectContaining({ answered: 200, leaked: 0, refused: 401, model_tokens: 20 }),
      ])
      expect(numbersOf(users)).toContain(metrics['bytes'])
    }
    for (const { headers } of endpoint.asked) expect(headers.authorization).toBe(`Bearer ${key}`)
    expect(endpoint.asked).toHaveLength(report.executions.length)
  })

  test('is whoever the coins of its order say: another order, another user', async () => {
    const { measure } = await settled()
    const files = { 'bench.sh': 'echo "{\\"bytes\\": $(id -u)}"\n', 'src/value': '1\n' }
    const bases = new Set<unknown>()
    for (const coins of ['0', '1', '2', '3', '4', '5'].map(digit => digit.repeat(64))) {
      const report = await measure({ files, stop: alone, order: { coins } })
      bases.add(report.executions[0]?.metrics['bytes'])
    }
    expect(bases.size).toBeGreaterThan(1)
  })

  test('finds the same path, environment and surroundings as the other, and a home that was empty', async () => {
    const { measure, users } = await settled()
    const seen = openScratch()
    const files = {
      'bench.sh': `{ pwd; env | sort; ls -a ..; ls -A "$HOME"; } > ${seen}/$(cat src/value); echo "{\\"bytes\\": $(cat src/value)}"\n`,
      'src/value': '100\n',
    }
    await measure({ files, candidates: { 'exp-001': { 'src/value': '110\n' } } })
    const [base, candidate] = ['100', '110'].map(name => readFileSync(join(seen, name), 'utf8'))
    expect(candidate).toBe(base)
    expect(base).toMatch(new RegExp(`^HOME=${users.dir}/work-[0-9a-f]{12}/at/home$`, 'm'))
    expect(base).not.toMatch(/someone|base|exp-001|candidate/)
  })

  test('keeps in its home what its set-up put there, for its gates and its runs, and no other side finds it', async () => {
    const { measure } = await settled()
    const spec = {
      measurement: { setup: 'test -z "$(ls -A "$HOME")" && cp src/value "$HOME/tool"' },
      gates: [{ name: 'tool', command: 'cmp "$HOME/tool" src/value' }],
    }
    const files = {
      'bench.sh': 'cmp "$HOME/tool" src/value && echo "{\\"bytes\\": $(cat "$HOME/tool")}"\n',
      'src/value': '7\n',
    }
    const candidates = { 'exp-001': { 'src/value': '5\n' } }
    for (let turn = 0; turn < 2; turn++) {
      const report = await measure({ files, spec, candidates })
      expect(report).toMatchObject({ tampered: null, runner_error: null })
      expect([report.setups.every(({ ok }) => ok), report.gates.every(({ passed }) => passed)]).toEqual([
        true,
        true,
      ])
      expect(
        report.executions.map(({ metrics }) => Number(metrics['bytes'])).toSorted((a, b) => a - b),
      ).toEqual([5, 5, 7, 7])
    }
  })

  test.each([
    ['what the other side is', 'ls ../../slots'],
    ['what other sides lie there', 'ls ../..'],
    ["winnow's own notes", 'cat ../../slots.json'],
    ['what was measured before it', 'ls ../../copy'],
    ['the clock', 'echo x > ../../clock'],
    ['the folder that it lies in', 'mv ../../at ../../elsewhere'],
    ['what root reads', 'cat /etc/shadow'],
  ])('does not reach %s', async (_what, command) => {
    const { acting, lodging } = await settled()
    // As a kill among gates leaves it.
    mkdirSync(join(lodging.workDir, 'copy'), { recursive: true })
    const report = await acting(`if ${command} >&2; then exit 9; fi`)
    expect(report).toMatchObject({ tampered: null, runner_error: null })
    expect([...new Set(report.executions.map(({ exit_code: code }) => code))]).toEqual([0])
  })

  test('cannot read the environment of winnow, nor that of what starts it', async () => {
    const { acting } = await settled()
    const seen = openScratch()
    await acting(`cat /proc/[0-9]*/environ > ${seen}/all 2>/dev/null || true`)
    expect(readFileSync(join(seen, 'all'), 'latin1')).toContain('WINNOW_OUT_DIR')
    expect(readFileSync(join(seen, 'all'), 'latin1')).not.toContain('VITEST')
  })

  test('becomes nobody else by a bit on a file', async () => {
    const { acting } = await settled()
    const tools = openScratch()
    writeFileSync(join(tools, 'id'), readFileSync('/usr/bin/id'))
    chmodSync(join(tools, 'id'), 0o4755)
    const report = await acting(`test "$(${tools}/id -u)" != 0 || exit 9`)
    expect(report.executions.map(({ exit_code: code }) => code)).toEqual([0, 0, 0, 0])
  })

  test('is measured against itself with two users', async () => {
    const { measure } = await settled()
    const files = { 'bench.sh': 'echo "{\\"bytes\\": $(id -u)}"\n', 'src/value': '1\n' }
    const stop: StopRule = { rule: 'pairs', metrics: ['bytes'], scale: 'linear', pairs: 2 }
    const report = await measure({ files, candidates: { 'base-copy': {} }, stop })
    expect(report).toMatchObject({ tampered: null, runner_error: null })
    const used = (side: string) =>
      new Set(report.executions.filter(run => run.side === side).map(run => run.metrics['bytes']))
    expect([used('base').size, used('base-copy').size]).toEqual([1, 1])
    expect([...used('base')]).not.toEqual([...used('base-copy')])
  })
})

describe.skipIf(!isRoot)('what a side does to its own files', () => {
  test.each(
    selectCases(
      [
        ['replaces its tree by a link', 'mv ../tree ../other; ln -s /etc ../tree', { path: /^/ }],
        ['changes a tracked file', 'echo 1 > src/value', { path: /^src\/value$/ }],
        ['takes a mode away', 'chmod 000 src/value', { path: /^src\/value$/ }],
        ['closes a folder', 'chmod 000 src', { path: /^src$/ }],
        ['closes a folder, and empties it', 'rm -r src; mkdir src; chmod 000 src', { path: /^src/ }],
      ],
      2,
    ),
  )('%s: refused, and the next order is measured', async (_what, script, { path }) => {
    const { acting } = await settled()
    const report = await acting(`trap '${script}' EXIT`)
    expect([report.tampered?.during, report.runner_error]).toEqual(['exp-001', null])
    expect(report.tampered?.path).toMatch(path)
    expect(await acting('true')).toMatchObject({ tampered: null, runner_error: null })
    expect(lstatSync('/etc').uid).toBe(0)
  })

  test('no link is followed by root, wherever it stands', async () => {
    const { acting } = await settled()
    const ours = scratch()
    writeFileSync(join(ours, 'kept'), 'x')
    const script = [
      'for d in "$TMPDIR" "$WINNOW_OUT_DIR" "$WINNOW_CHECKPOINT_DIR" "$HOME"; do',
      `  rm -rf "$d"; ln -s ${ours} "$d"`,
      'done',
      `ln -s ${ours} loose; ln -s ${ours}/kept "$PWD/file"`,
      `ln -sf ${ours}/kept "$WINNOW_PROGRESS_PATH"`,
    ].join('\n')
    for (let turn = 0; turn < 2; turn++) {
      const report = await acting(`trap '${script}' EXIT`, {
        spec: { measurement: { setup: 'echo 1 > built' } },
      })
      expect(report).toMatchObject({ tampered: null, runner_error: null })
    }
    expect([statSync(ours).uid, statSync(join(ours, 'kept')).uid]).toEqual([0, 0])
    expect([readdirSync(ours), readFileSync(join(ours, 'kept'), 'utf8')]).toEqual([['kept'], 'x'])
  })

  test.each([
    ['a link to it', (file: string) => `ln -s ${file} "$WINNOW_RESULT_PATH"`],
    ['a pipe', () => 'mkfifo "$WINNOW_RESULT_PATH"'],
  ])('nothing of root is read as its result: %s', async (_what, script) => {
    const { measure } = await settled()
    const secret = join(scratch(), 'secret')
    writeFileSync(secret, '{"bytes": 4711}')
    chmodSync(secret, 0o600)
    const files = { 'bench.sh': `${script(secret)}\n`, 'src/value': '1\n' }
    const report = await measure({ files, stop: alone })
    expect(report.executions.map(({ status }) => status)).toEqual(['bad-output'])
    expect(JSON.stringify(report)).not.toContain('4711')
  })

  test('its gates run in a copy that is its own, and takes no bit of rights along for another', async () => {
    const { measure, users } = await settled()
    const spec = {
      measurement: { setup: 'cp /usr/bin/id tool; chmod 4755 tool' },
      gates: [{ name: 'own', command: 'test -O tool && test -O . && echo x > more && ./tool -u' }],
    }
    const report = await measure({ spec, candidates: { 'exp-001': { 'src/value': '2\n' } } })
    expect(report.gates.map(({ passed }) => passed)).toEqual([true, true])
    expect(numbersOf(users)).not.toContain(0)
  })

  test('what one execution leaves where all may write is not there for the next of anybody', async () => {
    const { acting } = await settled()
    const name = `winnow-left-${process.pid}`
    onTestFinished(() => rmSync(`/tmp/${name}`, { recursive: true, force: true }))
    const report = await acting(
      `for d in /tmp /var/tmp; do test ! -e $d/${name} || exit 9; mkdir $d/${name}; done`,
    )
    expect(report.executions.map(({ exit_code: code }) => code)).toEqual([0, 0, 0, 0])
    expect([existsSync(`/tmp/${name}`), existsSync(`/var/tmp/${name}`)]).toEqual([false, false])
  })

  test('folders nested deeper than a path can say, and names that are no text, fail no order and stay nowhere', async () => {
    const { acting, lodging, users } = await settled()
    const name = `winnow-deep-${process.pid}`
    const deep = (where: string) =>
      `perl -e 'chdir shift; mkdir "${name}"; chdir "${name}"; mkdir "x" and chdir "x" for 1..2100' ${where}`
    onTestFinished(
      () => void execFileSync('rm', ['-rf', '--', `/tmp/${name}`, `/dev/shm/${name}`, lodging.workDir]),
    )
    const strange = `touch "/tmp/$(printf '${name}\\377')"`
    const report = await acting([...['/tmp', '/dev/shm'].map(deep), strange].join('\n'))
    expect(report).toMatchObject({ tampered: null, runner_error: null })
    expect(report.executions.map(({ exit_code: code }) => code)).toEqual([0, 0, 0, 0])
    const own = ['"$TMPDIR"', '"$WINNOW_OUT_DIR"', '"$HOME"', '.'].map(deep)
    await acting(own.join('\n'))
    expect(await acting('true')).toMatchObject({ tampered: null, runner_error: null })
    const numbers = numbersOf(users)
    for (const dir of ['/tmp', '/dev/shm'])
      for (const entry of readdirSync(dir, { encoding: 'buffer' })) {
        const found = lstatSync(Buffer.concat([Buffer.from(`${dir}/`), entry]), { throwIfNoEntry: false })
        expect(numbers).not.toContain(found?.uid)
      }
  })

  test('no process of it survives, in whatever session', async () => {
    const { acting } = await settled()
    const mark = `winnow-mark-${process.pid}`
    const report = await acting(`setsid sh -c 'sleep 1000; : ${mark}' & sleep 0.05`)
    expect(report).toMatchObject({ tampered: null, runner_error: null })
    expect(report.flags).not.toContain('unreaped')
    expect(carrying(mark)).toEqual([])
  })
})

describe.skipIf(!isRoot)('what a set-up made', () => {
  const spec = { measurement: { setup: 'echo "$(id -u)" > built', setup_scope: 'once' } }
  const files = {
    'bench.sh': 'test -O built && echo x >> built && echo "{\\"bytes\\": $(cat src/value)}"\n',
    'src/value': '1\n',
  }

  test('once belongs to whoever has its side in a later order', async () => {
    const { measure } = await settled()
    const seen = new Set<number>()
    for (const digit of ['0', '1', '2', '3']) {
      const report = await measure({ files, spec, stop: alone, order: { coins: digit.repeat(64) } })
      expect(report.executions.map(({ status }) => status)).toEqual(['ok'])
      seen.add(report.setups.length)
    }
    expect([...seen]).toEqual([1, 0])
  })
})

describe.skipIf(!isRoot)('a scorer beside sides with users of their own', () => {
  const spec = { measurement: { score: { command: 'sh score.sh' }, command: 'sh src/run.sh' } }
  const files = {
    'score.sh':
      'id -u > "$TMPDIR/me"; echo "{\\"bytes\\": $(wc -c < "$WINNOW_OUT_DIR/answer"), \\"me\\": $(id -u)}"\n',
    'src/run.sh': 'umask 077; printf abc > "$WINNOW_OUT_DIR/answer"; mkfifo "$WINNOW_OUT_DIR/pipe"\n',
  }

  test('has one too, which is no side’s, and reads what a side closed to others', async () => {
    const { measure } = await settled()
    const ran = {
      'exp-001': { 'src/run.sh': 'id -u > "$WINNOW_OUT_DIR/answer"; chmod 000 "$WINNOW_OUT_DIR/answer"\n' },
    }
    const report = await measure({ files, spec, candidates: ran })
    expect(report).toMatchObject({ tampered: null, runner_error: null })
    expect(report.executions.map(({ status }) => status)).toEqual(['ok', 'ok'])
    const scorers = new Set(report.executions.map(({ metrics }) => metrics['me']))
    expect(scorers.size).toBe(1)
    expect([...scorers][0]).not.toBe(0)
  })

  test.each(
    selectCases<[string, (aim: string) => string]>([
      ['removed', (_aim: string) => 'rm -rf "$WINNOW_OUT_DIR"'],
      ['a link', (aim: string) => `rm -rf "$WINNOW_OUT_DIR"; ln -s ${aim} "$WINNOW_OUT_DIR"`],
      ['a file', (_aim: string) => 'rm -rf "$WINNOW_OUT_DIR"; echo x > "$WINNOW_OUT_DIR"'],
    ]),
  )(
    'finds an empty folder where what a side left is %s, and root changes nothing elsewhere',
    async (_what, script) => {
      const { measure, lab } = await settled()
      const aim = scratch()
      writeFileSync(join(aim, 'answer'), '1')
      chmodSync(aim, 0o755)
      const ran = { 'exp-001': { 'src/run.sh': `${script(aim)}\n` } }
      const report = await measure({ files, spec, candidates: ran })
      expect(report).toMatchObject({ tampered: null, runner_error: null })
      const statusOf = (side: string) =>
        report.executions.filter(execution => execution.side === side).map(({ status }) => status)
      expect([statusOf('base'), statusOf('exp-001')]).toEqual([['ok'], ['score-failed']])
      expect([lstatSync(aim).mode & 0o777, lstatSync(join(aim, 'answer')).mode & 0o777]).toEqual([
        0o755, 0o644,
      ])
      // Without users too, it is the same folder with nothing in it.
      const without = await lab.measure({ files, spec, candidates: ran })
      expect(without.runner_error).toBeNull()
      const listed = { ...files, 'score.sh': 'echo "{\\"bytes\\": $(ls -A "$WINNOW_OUT_DIR" | wc -l)}"\n' }
      for (const measuring of [measure, (experiment: Experiment) => lab.measure(experiment)]) {
        const honest = await measuring({ files: listed, spec, candidates: ran })
        const found = honest.executions.find(({ side }) => side === 'exp-001')
        expect(found).toMatchObject({ status: 'ok', metrics: { bytes: 0 } })
      }
    },
  )

  test('what it scored of one side is nothing that another finds', async () => {
    const { measure } = await settled()
    const look = 'ls ../../trusted >&2 && exit 9; printf abc > "$WINNOW_OUT_DIR/answer"\n'
    const report = await measure({
      files: { ...files, 'src/run.sh': look },
      spec,
      candidates: { 'exp-001': { 'src/more': '' } },
    })
    expect(errorsIn(report)).toEqual([])
    expect(report.executions.map(({ exit_code: code }) => code)).toEqual([0, 0])
  })
})

describe.skipIf(!isRoot)('a holdout beside sides with users of their own', () => {
  test('is read by its own command, and can be changed by nobody', async () => {
    const { measure } = await settled()
    const data = scratch()
    writeFileSync(join(data, 'cases'), '12\n')
    chmodSync(join(data, 'cases'), 0o600)
    const command =
      'echo x 2>/dev/null > "$WINNOW_HOLDOUT_DIR/cases" && exit 9; echo "{\\"bytes\\": $(cat "$WINNOW_HOLDOUT_DIR/cases")}"'
    const stop: StopRule = {
      rule: 'holdout',
      command,
      metrics: ['bytes'],
      scale: 'linear',
      pairs: 2,
      margin: 1,
      exact: true,
      source: { environment: 'HELD' },
    }
    const env = { PATH: process.env['PATH'] ?? '', HELD: data }
    const report = await measure({ candidates: { 'exp-001': { 'src/value': '2\n' } }, stop, input: { env } })
    expect(report).toMatchObject({ tampered: null, runner_error: null })
    expect(new Set(report.executions.map(({ metrics }) => metrics['bytes']))).toEqual(new Set([12]))
    expect(report.flags).not.toContain('unisolated')
  })
})

describe.skipIf(!isRoot)('before sides with users of their own are measured', () => {
  test('a folder that they cannot enter is named', async () => {
    const { lab, users } = await settled()
    chmodSync(dirname(users.dir), 0o1777)
    const closed = join(users.dir, 'closed')
    mkdirSync(closed, { mode: 0o700 })
    const dir = join(closed, 'sides')
    const measuring = lab.measure({ input: buildUserWorkspace({ ...users, dir }, lab.workDir) })
    await expect(measuring).rejects.toThrow(new RegExp(`user \\d+ of a side cannot enter ${closed}$`))
  })

  test.each(
    selectCases<[string, (room: string) => string, string]>(
      [
        ['a folder of PATH', room => (chmodSync(join(room, 'bin'), 0o777), 'bin'), 'bin'],
        ['a folder above it', room => (chmodSync(room, 0o777), 'bin'), ''],
        ['where a folder of PATH is missing', room => (chmodSync(room, 0o1777), 'none'), ''],
        ['a folder that a link leads to', room => (chmodSync(join(room, 'aim'), 0o777), 'link'), 'aim'],
        ['a program in one', room => (chmodSync(join(room, 'bin/tool'), 0o777), 'bin'), 'bin'],
      ],
      2,
    ),
  )('%s that they could write to is named', async (_what, open, named) => {
    const { measure } = await settled()
    const room = scratch()
    chmodSync(room, 0o755)
    for (const name of ['bin', 'aim']) mkdirSync(join(room, name), { mode: 0o755 })
    writeFileSync(join(room, 'bin/tool'), '')
    symlinkSync('aim', join(room, 'link'))
    const PATH = (name: string) => `${join(room, name)}:${process.env['PATH'] ?? ''}`
    for (const name of ['bin', 'link', 'none', '../..'])
      expect(await measure({ stop: alone, input: { env: { PATH: PATH(name) } } })).toMatchObject({
        runner_error: null,
      })
    const env = { PATH: PATH(open(room)) }
    const folder = join(room, named)
    await expect(measure({ stop: alone, input: { env } })).rejects.toMatchObject({
      message: expect.stringMatching(
        new RegExp(`^user \\d+ of a side can replace programs on PATH in ${folder}$`),
      ),
      fix: `chmod -R o-w ${folder}, or take it off PATH`,
    })
  })

  test('a folder that somebody else could change is not used', async () => {
    const { measure, users } = await settled()
    chmodSync(users.dir, 0o777)
    await expect(measure({})).rejects.toThrow('other users can write to')
    chmodSync(users.dir, 0o711)
    chownSync(users.dir, users.owners[0]?.uid ?? 0, 0)
    await expect(measure({})).rejects.toThrow('other users can write to')
  })

  test('what a killed winnow left running and lying about under their numbers is gone', async () => {
    const { measure, users } = await settled()
    const { uid = 1, gid = 1 } = users.owners[3] ?? {}
    const left = `/tmp/winnow-left-over-${process.pid}`
    mkdirSync(left)
    chownSync(left, uid, gid)
    const mark = `winnow-stray-${process.pid}`
    spawn('sh', ['-c', `sleep 1000; : ${mark}`], { uid, gid, detached: true, stdio: 'ignore' }).unref()
    await vi.waitFor(() => expect(carrying(mark)).not.toEqual([]), 60_000)
    expect(await measure({ stop: alone })).toMatchObject({ runner_error: null })
    expect([carrying(mark), existsSync(left)]).toEqual([[], false])
  })

  test('nobody else measures with the same users meanwhile', async () => {
    const { measure, lab, users } = await settled()
    const second = buildUserWorkspace(users, join(lab.workDir, 'other'))
    const seen: unknown[] = []
    const report = await measure({
      stop: alone,
      input: {
        onStart: async () => {
          seen.push(readdirSync(users.dir).filter(name => name.startsWith('running-')))
        },
      },
    })
    expect(report.runner_error).toBeNull()
    expect(seen).toEqual([[`running-${process.pid}.json`]])
    expect(readdirSync(users.dir).filter(name => name.startsWith('running-'))).toEqual([])
    const stranger = spawn('sleep', ['1000'])
    onTestFinished(() => void stranger.kill('SIGKILL'))
    const stat = readFileSync(`/proc/${stranger.pid}/stat`, 'latin1')
    const started = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    const record = { boot_id: boot, owner: { pid: stranger.pid, started }, supervisor: null }
    writeFileSync(join(users.dir, `running-${stranger.pid}.json`), JSON.stringify(record))
    await expect(lab.measure({ stop: alone, input: second })).rejects.toThrow(
      `is in use by process ${stranger.pid}`,
    )
  })
})

describe.skipIf(!isRoot)('a directory found again', () => {
  test('that its last user made useless without changing it is laid out anew', async () => {
    const { acting, lodging } = await settled()
    await acting(':')
    for (const slot of readdirSync(join(lodging.workDir, 'slots'))) {
      const tree = join(lodging.workDir, 'slots', slot, 'tree')
      chmodSync(join(tree, 'bench.sh'), 0o444)
      chmodSync(join(tree, 'src'), 0o555)
    }
    const report = await acting('touch src/more && echo >> /dev/null')
    expect(report).toMatchObject({ tampered: null, runner_error: null })
    expect(report.executions.map(({ exit_code: code }) => code)).toEqual([0, 0, 0, 0])
  })
})

describe.skipIf(!isRoot)('folders deeper than any path', () => {
  test('are the failure of who left them, and not of the machine', async () => {
    const [owner = { uid: 1, gid: 1 }] = throwAwayUsers().owners
    const room = scratch()
    const [from, closed] = [join(room, 'from'), join(room, 'closed')]
    mkdirSync(from)
    execFileSync('perl', ['-e', 'mkdir "x" and chdir "x" for 1..2100', '--'], { cwd: from })
    const copying = copyForUser(owner, { from, room: closed, to: join(room, 'to') })
    await expect(copying).rejects.toThrow(HarnessError)
    execFileSync('rm', ['-rf', '--', from, closed])
  })
})
