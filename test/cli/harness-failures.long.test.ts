import { describe, expect, it } from 'vitest'
import { FILES, project, SPEC } from './project.ts'
import { selectCases } from '../support/cases.ts'

/** What `winnow check` answers to a harness of these lines. */
async function checked(harness: string, spec: (text: string) => string = text => text, more = {}) {
  const files = { ...FILES, '.winnow/size.yaml': spec(SPEC), 'bench/size.sh': `${harness}\n`, ...more }
  const person = project(files)
  person.write('data/words.txt', 'of my own\n')
  const { code, err } = await person.winnow('check')
  expect(code).toBe(13)
  return err
}

describe('a harness that does not work is told so that its person can mend it', () => {
  it.each(
    selectCases(
      [
        [
          'a banner before its JSON',
          'echo "> x@1.0.0 bench"; echo; echo "{\\"bytes\\": 5}"',
          [
            'another line is printed before the JSON object: print the object alone, or write it to $WINNOW_RESULT_PATH, or print METRIC lines (npm run --silent prints no banner)',
            '  in: > x@1.0.0 bench',
            '  valid: {"bytes":12.5}',
            '  ran: sh bench/size.sh',
          ],
        ],
        [
          'a line after it',
          'echo "{\\"bytes\\": 5}"; echo done',
          ['another line is printed after the JSON object', '  in: done'],
        ],
        ['nothing', 'true', ['stdout is empty, but bytes is needed', '  valid: {"bytes":12.5}']],
        [
          'its result to stderr',
          'echo "{\\"bytes\\": 5}" >&2',
          ['stdout is empty', '  last lines of stderr:\n    {"bytes": 5}'],
        ],
        [
          'NaN as JSON',
          'echo "{\\"bytes\\": NaN}"',
          ['NaN is not valid JSON and cannot be compared', '  in: {"bytes": NaN}'],
        ],
        [
          'NaN as a line',
          'echo METRIC bytes=nan',
          ['does not pass: bytes (metric.primary) is printed, but not as a finite number'],
        ],
        [
          'another name',
          'echo METRIC byts=5',
          ['does not pass: missing metric: bytes', '  it printed:\n    byts', 'did you mean byts?'],
        ],
        [
          'exit 3',
          'echo loading; echo "cannot open the ruler" >&2; exit 3',
          [
            'ended with exit code 3',
            '  ran: sh bench/size.sh\n  last lines of stdout:\n    loading\n  last lines of stderr:\n    cannot open the ruler',
          ],
        ],
        ['exit 3, and why on stdout', 'echo "no ruler"; exit 3', ['  last lines of stdout:\n    no ruler']],
        [
          'no tool',
          'nosuchtool',
          ['ended with exit code 127', 'nosuchtool: not found', 'give measurement.setup: "npm ci"'],
        ],
        [
          'no file',
          'cat data/words.txt',
          [
            'fix: data/words.txt is in your work tree and not committed: commit it, or name it in parallel.shared_files',
          ],
        ],
      ],
      3,
    ),
  )('%s', async (_what, harness, sentences) => {
    const err = await checked(harness, undefined, {
      'package-lock.json': '{}\n',
      'package.json': '{"devDependencies":{"x":"1"}}\n',
    })
    for (const sentence of sentences) expect(err).toContain(sentence)
  })

  it('hangs', async () => {
    const err = await checked('sleep 100', text =>
      text.replace('bench/size.sh', 'bench/size.sh, timeout_seconds: 0.2'),
    )
    expect(err).toContain('ran longer than 0.2 s')
    expect(err).toContain('fix: raise measurement.timeout_seconds if it needs longer')
  })

  it('needs a set-up that fails, or a metric of a constraint that nobody prints', async () => {
    const setup = await checked('true', text =>
      text.replace('bench/size.sh', 'bench/size.sh, setup: nosuchtool ci'),
    )
    expect(setup).toContain('set-up failed in build 0\n  ran: nosuchtool ci\n  last lines of stderr:')
    const constraint = await checked('echo METRIC bytes=5', text =>
      text.replace(
        'minimize }',
        'minimize }, constraints: [{ metric: errors, op: "<=", value: 0 }], diagnostics: [{ name: lines }]',
      ),
    )
    expect(constraint).toContain('does not hold in every execution: errors <= 0')
    expect(constraint).toContain('fix: errors is not printed. Name one of the printed metrics, or print it.')
    expect(constraint).toContain('Not printed either: lines (metric.diagnostics).')
  })
})
