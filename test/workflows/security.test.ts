import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findingsIn, findingsInAction, RULES } from './rules.ts'
import { everyFile, JUDGED, NODE, REUSABLES, written } from './written.ts'

const ROOT = new URL('../..', import.meta.url).pathname
const ASKING = ['propose: [{ use: command, command: ./ideas }]']
const [tick, measure, wake, comments] = written([ASKING]).map(({ text }) => text)
const [judged] = written([[...ASKING, ...JUDGED]]).map(({ text }) => text)
const [, plain] = written([['measurement: { command: sh bench/size.sh, isolation: none }']]).map(
  ({ text }) => text,
)
const calling = written([ASKING], NODE, { calls: true }).map(({ text }) => text)
const [callsTick, callsMeasure] = calling
const [reusableTick, reusableMeasure] = REUSABLES.map(({ text }) => text)
const setup = written([[]]).find(({ path }) => path.endsWith('action.yml'))?.text ?? ''

describe('the workflows that init writes', () => {
  it.each(everyFile().map(({ of, path, text }) => [`${of}: ${path}`, path, text]))(
    '%s',
    (_of, path, text) => {
      expect(path.endsWith('action.yml') ? findingsInAction(text) : findingsIn(text)).toEqual([])
    },
  )

  it('and those of this repository are sound', () => {
    const ours = readFileSync(join(ROOT, '.github/workflows/ci.yml'), 'utf8')
    const general = RULES.filter(rule => !/pause|writers|strangers/.test(rule))
    expect(findingsIn(ours, general)).toEqual([])
  })
})

/** For every rule, changes that somebody could make to a file that is sound, each of which it must notice. */
const COUNTER: Readonly<Record<string, readonly (readonly [string | undefined, string | RegExp, string])[]>> =
  {
    'top-level permissions are none': [
      [tick, '\npermissions: {}\n', '\n'],
      [measure, '\npermissions: {}\n', '\npermissions: write-all\n'],
    ],
    'every job says its permissions, and a reason stands beside each': [
      [wake, '    permissions: {}\n', ''],
      [measure, / # to clone the repository/, ''],
    ],
    'writing is for jobs that run winnow alone': [
      [measure, 'contents: read', 'contents: write'],
      [callsMeasure, 'contents: read', 'contents: write'],
      [callsTick, 'reusable-tick.yml', 'reusable-all.yml'],
      [tick, '      - name: Observe, decide, act', '      - run: npm ci\n      - name: Observe, decide, act'],
      [wake, 'permissions: {}\n    steps', 'permissions: write-all\n    steps'],
    ],
    'actions are pinned to commits, and taken from the trusted side': [
      [measure, /@[0-9a-f]{40} # v6.0.2/, '@v6'],
      [measure, './trusted/.github/', './repository/.github/'],
      [tick, './trusted/.github/actions/winnow-agents', './repository/.github/actions/winnow-agents'],
      [tick, /somebody\/winnow@\S+/, 'somebody/winnow@main'],
      [callsTick, /reusable-tick.yml@\S+/, 'reusable-tick.yml@main'],
      [callsMeasure, /somebody\/winnow\/\S+/, 'somebody/winnow/.github/workflows/reusable-measure.yml'],
      [reusableMeasure, 'uses: $/', 'uses: ./'],
      [reusableTick, 'uses: $/', 'uses: ./repository'],
    ],
    'a call hands over what its workflow asks for, and no secret': [
      [callsTick, /(uses: somebody.*)/, '$1\n    secrets: inherit'],
      [
        callsMeasure,
        '      runs-on:',
        '      title: ${{ github.event.head_commit.message }}\n      runs-on:',
      ],
      [callsMeasure, '${{ inputs.order }}\n      runs', '${{ github.event.inputs.order }}\n      runs'],
      [callsMeasure, /runs-on: .*/, 'runs-on: ${{ inputs.order }}'],
      [callsMeasure, 'users: true', 'users: ${{ inputs.order }}'],
    ],
    'no credential stays in a clone': [
      [measure, '          persist-credentials: false\n', ''],
      [tick, 'persist-credentials: false', 'persist-credentials: true'],
    ],
    'a trusted job checks out no head of anybody': [
      [tick, 'fetch-depth: 0', 'ref: ${{ github.event.workflow_run.head_sha }}'],
      [comments, 'fetch-depth: 0', 'ref: refs/pull/${{ github.event.issue.number }}/head'],
    ],
    'no expression stands in a script': [
      [plain, 'for socket in', 'for socket in ${{ inputs.order }}'],
      [measure, 'for n in', 'for n in ${{ inputs.order }}'],
      [wake, "run: 'true'", 'run: echo "${{ github.event.pull_request.title }}"'],
    ],
    'no trigger gives strangers a token that writes': [
      [wake, '  pull_request:\n', '  pull_request_target:\n'],
      [tick, '  workflow_dispatch:\n', '  workflow_dispatch:\n  pull_request: {}\n'],
    ],
    'a workflow that follows another looks at its path, not its name, and takes nothing from it': [
      [tick, 'github.event.workflow_run.path', 'github.event.workflow_run.name'],
      [tick, 'command: tick', 'command: tick\n          order: x # github.event.workflow_run.head_sha'],
    ],
    'a condition is one expression': [
      [measure, /if: (steps\.measure\.outputs\.report .*)/, 'if: ${{ $1 }} && true'],
      [wake, 'if: >-', 'if: |'],
    ],
    'secrets are for jobs that ask models, behind an environment': [
      [tick, '    environment: winnow-models\n', ''],
      [judged, /(judge:[^]*)    environment: winnow-models\n/, '$1'],
      [measure, '        id: measure\n', '        id: measure\n        env: { KEY: "${{ secrets.KEY }}" }\n'],
      [wake, '\njobs:', '\nenv: { KEY: "${{ secrets.KEY }}" }\njobs:'],
    ],
    'what runs experiments gets no token': [
      [measure, 'command: measure\n', 'command: measure\n          github-token: ${{ github.token }}\n'],
      [
        measure,
        'command: measure\n',
        'command: measure\n          app-token: ${{ steps.app.outputs.token }}\n',
      ],
      [measure, 'contents: read', 'actions: read # to look\n      contents: read'],
      [measure, '    timeout-minutes', '    environment: prod\n    timeout-minutes'],
      [
        measure,
        '      - name: Set up the tool chain\n',
        '      - name: Set up the tool chain\n        env: { TOKEN: "${{ github.token }}" }\n',
      ],
    ],
    'what asks proposers reads the repository, holds one secret in one step, and no token': [
      [tick, 'command: propose\n', 'command: propose\n          github-token: ${{ github.token }}\n'],
      [tick, 'command: propose\n', 'command: propose\n          app-token: ${{ steps.app.outputs.token }}\n'],
      [tick, /contents: read # to clone/, 'contents: write # to clone'],
      [tick, 'secrets.WINNOW_MODEL_KEY }}', 'secrets.DEPLOY_KEY }}'],
      [
        tick,
        'uses: ./trusted/.github/actions/winnow-agents',
        'uses: ./trusted/.github/actions/winnow-agents\n        env: { KEY: "${{ secrets.WINNOW_MODEL_KEY }}" }',
      ],
    ],
    'what asks models for scores runs winnow alone, reads the repository, and holds one secret in one step': [
      [judged, 'command: judge\n', 'command: judge\n          github-token: ${{ github.token }}\n'],
      [judged, 'command: judge\n', 'command: judge\n          app-token: ${{ steps.app.outputs.token }}\n'],
      [judged, /(\n {2}judge:[^]*?)contents: read # to clone/, '$1contents: write # to clone'],
      [judged, /(command: judge[^]*?)secrets\.WINNOW_MODEL_KEY }}/, '$1secrets.DEPLOY_KEY }}'],
      [judged, 'vars.WINNOW_MODEL_URL', 'secrets.WINNOW_MODEL_URL'],
      [
        judged,
        '      - name: Ask models for scores',
        '      - run: npm ci\n      - name: Ask models for scores',
      ],
      [
        judged,
        '      - name: Ask models for scores',
        '      - uses: ./repository/tools\n      - name: Ask models for scores',
      ],
    ],
    'whoever asks models says so itself where there is nothing to ask about: else it counts as having spent':
      [
        [judged, /(what is to be scored\n\s+)continue-on-error: true/, '$1if: always()'],
        [
          judged,
          '      - name: Ask models for scores',
          '      - if: success()\n        name: Ask models for scores',
        ],
      ],
    'answers come from the job of the same run that asked, to a job after it': [
      [judged, 'needs: [tick, propose, judge]', 'needs: [tick, propose]'],
      [judged, 'winnow-judge/scores.json', 'winnow-propose/scores.json'],
      [judged, 'winnow-items/items.json', 'elsewhere/items.json'],
      [judged, /(download-artifact@.*\n\s+with:\n\s+name: )winnow-items/, '$1winnow-report'],
      [tick, 'needs: [tick, propose]', 'needs: [tick]'],
      [tick, 'winnow-propose/answers.json', 'elsewhere/answers.json'],
      [tick, /(download-artifact@.*\n\s+with:\n\s+name: )winnow-propose/, '$1winnow-report'],
    ],
    "what runs code of others has given up root before, or users for it, on runners that are not its owner's":
      [
        [tick, /if sudo -n true.*/, ''],
        [tick, '      - name: Ask for ideas', '      - run: sudo true\n      - name: Ask for ideas'],
        [plain, /if sudo -n true.*/, ''],
        [measure, /sudo chmod -R o-w.*/, 'true; fi'],
        [plain, /sudo chmod -R o-w.*/, 'true; fi'],
        [measure, 'in /opt /usr/share;', 'in /opt;'],
        [measure, 'sudo sh -ec', 'sudo sh -c'],
        [measure, 'useradd --system', 'useradd --system --groups docker'],
        [measure, 'winnow-$n; done', 'winnow-$n; done; usermod -aG sudo winnow-1'],
        [reusableMeasure, /if sudo -n true.*/, ''],
        [reusableMeasure, '&& !inputs.users', '&& inputs.users'],
        [reusableMeasure, 'if: inputs.users && ', 'if: '],
        [measure, "if: runner.environment == 'github-hosted'", "if: runner.environment == 'self-hosted'"],
        [
          measure,
          '      - name: Measure the order',
          '      - run: sudo true\n      - name: Measure the order',
        ],
      ],
    'after code of others nothing runs but handing its file over': [
      [
        tick,
        '      - name: Hand the answers over',
        '      - run: make publish\n      - name: Hand the answers over',
      ],
      [
        measure,
        '      - name: Hand the report over',
        '      - run: make publish\n      - name: Hand the report over',
      ],
    ],
    'what runs experiments is never on the default branch, and starts by dispatch alone': [
      [measure, ' && github.ref_name != github.event.repository.default_branch', ''],
      [measure, 'on:\n', 'on:\n  push: {}\n'],
      [callsMeasure, ' && github.ref_name != github.event.repository.default_branch', ''],
      [reusableMeasure, "github.event_name == 'workflow_dispatch' && ", ''],
      [reusableMeasure, 'on:\n', 'on:\n  workflow_dispatch: {}\n'],
    ],
    'artifacts are fetched outside the clone, by name, from this run': [
      [tick, 'path: ${{ runner.temp }}/winnow-propose', 'path: .'],
      [tick, '/winnow-propose\n', '/winnow-propose\n          run-id: 7\n'],
    ],
    'what is uploaded is one file that a step named': [
      [measure, 'if-no-files-found: error', 'if-no-files-found: ignore'],
      [measure, 'path: ${{ steps.measure.outputs.report }}', 'path: .'],
      [judged, 'path: ${{ steps.tick.outputs.items }}', 'path: .'],
    ],
    'what a job that writes could not write is handed over, however its step ended': [
      [tick, "if: always() && steps.tick.outputs.report != ''", "if: steps.tick.outputs.report != ''"],
      [tick, "steps.settle.outputs.report != ''", "steps.tick.outputs.report != ''"],
      [judged, 'path: ${{ steps.tick.outputs.items }}', 'path: ${{ steps.tick.outputs.report }}'],
      [comments, /      - name: Keep what could not be written[^]*/, ''],
      [reusableTick, 'name: ${{ steps.tick.outputs.artifact }}', 'name: winnow-unwritten'],
    ],
    'caches are only restored, and only where nothing is trusted': [
      [measure, 'actions/upload-artifact@', 'actions/cache@'],
      [tick, 'fetch-depth: 0', 'cache: npm'],
    ],
    'writers wait in one line with a literal name, everybody else in none': [
      [tick, 'group: winnow-tick', 'group: winnow-${{ github.ref }}'],
      [comments, 'cancel-in-progress: false', 'cancel-in-progress: true'],
      [tick, '\njobs:', '\nconcurrency: winnow-tick\njobs:'],
      [callsTick, '    uses: somebody', '    concurrency: winnow-tick\n    uses: somebody'],
      [reusableTick, 'group: winnow-tick', 'group: ${{ github.workflow }}'],
    ],
    'every job has an end': [
      [wake, '    timeout-minutes: 5\n', ''],
      [measure, 'timeout-minutes: 350', 'timeout-minutes: 900'],
    ],
    'nothing is obeyed that is printed': [[plain, 'for socket in', 'echo a >> "$GITHUB_ENV"; for socket in']],
    'a pause is seen before anything starts': [
      [comments, /\(vars\.WINNOW_PAUSED[^)]*\) &&/, ''],
      [callsTick, /\(vars\.WINNOW_PAUSED[^)]*\) &&/, ''],
    ],
  }

describe('each rule notices what it is for', () => {
  it('and none is without a counter-example', () => {
    expect(Object.keys(COUNTER).toSorted()).toEqual(RULES.toSorted())
  })

  const cases = Object.entries(COUNTER).flatMap(([rule, changes]) =>
    changes.map(
      ([text = '', from, to]) => [`${rule}: ${to.trim().slice(0, 60)}`, rule, text, from, to] as const,
    ),
  )
  it.each(cases)('%s', (_name, rule, text, from, to) => {
    const changed = text.replace(from, to)
    expect(changed).not.toBe(text)
    expect(findingsIn(text)).toEqual([])
    expect(findingsIn(changed).map(finding => finding.rule)).toContain(rule)
  })

  it('in the steps of the set-up action too', () => {
    expect(findingsInAction(setup.replace(/@[0-9a-f]{40}/, '@v6'))).toHaveLength(1)
    expect(findingsInAction(setup.replace('actions/cache/restore', 'actions/cache'))).toHaveLength(1)
  })
})
