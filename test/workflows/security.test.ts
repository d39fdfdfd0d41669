import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { SETUP_ACTION, WORKFLOW } from '../../src/init/workflows/files.ts'
import { checkWorkflow, checkAction, GENERAL_RULES, RULES } from './rules.ts'
import { everyFile, HAND_WRITTEN, JUDGED, NODE, readOwnFile, written } from './written.ts'

const ASKING = ['propose: [{ use: command, command: ./ideas }]']
const readText = (files: ReturnType<typeof written>, wanted: string) =>
  files.find(({ path }) => path === wanted)?.text ?? ''
const asking = readText(written([ASKING]), WORKFLOW)
const judged = readText(written([[...ASKING, ...JUDGED]]), WORKFLOW)
const single = readText(written([ASKING], NODE, { singleJob: true }), WORKFLOW)
const attested = readText(written([ASKING], NODE, { attest: true }), WORKFLOW)
const setup = readText(written([[]]), SETUP_ACTION)
const own = readFileSync(new URL(`../../${WORKFLOW}`, import.meta.url), 'utf8')

describe('the files that init writes', () => {
  it.each(everyFile().map(({ of, path, text }) => [`${of}: ${path}`, path, text]))(
    '%s',
    (_of, path, text) => {
      expect(path === WORKFLOW ? checkWorkflow(text) : checkAction(text)).toEqual([])
    },
  )

  it.each(HAND_WRITTEN.map(path => [path, readOwnFile(path).text]))(
    'and %s of this repository are sound',
    (_path, text) => {
      expect(checkWorkflow(text, GENERAL_RULES)).toEqual([])
    },
  )
})

type Change = readonly [text: string, from: string | RegExp, to: string]

/** Changes to a sound file, each of which the rule must notice. */
const COUNTER: Readonly<Record<string, readonly Change[]>> = {
  'top-level permissions are none': [
    [asking, '\npermissions: {}\n', '\n'],
    [single, '\npermissions: {}\n', '\npermissions: write-all\n'],
  ],
  'every job says its permissions, and a reason stands beside each': [
    [asking, /    permissions:\n      contents: read.*\n/, ''],
    [asking, / # to clone the repository/, ''],
    [single, / # to move winnow's own branches/, ''],
  ],
  'writing is for jobs that decide': [
    [asking, 'contents: read', 'contents: write'],
    [asking, '      - name: Observe, decide, act', '      - run: npm ci\n      - name: Observe, decide, act'],
    [single, '      - name: Create a user', '      - run: npm ci\n      - name: Create a user'],
    [asking, 'command: settle', 'command: publish'],
  ],
  "signing as the workflow is for a job with GitHub's action alone": [
    [attested, 'id-token: write', 'contents: write # to read\n      id-token: write'],
    [attested, /(measure:\n[^]*?)contents: read/, '$1id-token: write # to sign\n      contents: read'],
    [attested, /(settle:\n[^]*?)contents: write/, '$1attestations: write # to sign\n      contents: write'],
    [attested, '      - name: Attest it', '      - uses: ./repository\n      - name: Attest it'],
    [attested, '      - name: Attest it', '      - run: npm ci\n      - name: Attest it'],
    [attested, 'needs.settle.outputs.ledger }}\n        run', 'needs.measure.outputs.ledger }}\n        run'],
    [attested, 'subject-checksums: subjects.txt', 'subject-path: "**"'],
    [attested, /(attest:\n[^]*?)timeout-minutes: 10/, '$1timeout-minutes: 10\n    env: { A: b }'],
  ],
  'secrets are for jobs that ask models, behind an environment': [
    [asking, '    environment: winnow-models\n', ''],
    [judged, /(judge:\n[^]*)    environment: winnow-models\n/, '$1'],
    [single, '    environment: winnow-models\n', ''],
    [asking, '        id: measure\n', '        id: measure\n        env: { KEY: "${{ secrets.KEY }}" }\n'],
    [asking, '\njobs:', '\nenv: { KEY: "${{ secrets.KEY }}" }\njobs:'],
  ],
  'a job that measures has no secret, and a token only to clone': [
    [asking, 'command: measure\n', 'command: measure\n          github-token: ${{ github.token }}\n'],
    [asking, 'command: measure\n', 'command: measure\n          app-token: ${{ steps.a.outputs.token }}\n'],
    [asking, /(measure:\n[^]*?)contents: read/, '$1actions: read # to look\n      contents: read'],
    [asking, '    timeout-minutes: 350', '    environment: prod\n    timeout-minutes: 350'],
    [asking, '    timeout-minutes: 350', '    env: { A: b }\n    timeout-minutes: 350'],
    [
      asking,
      /(measure:\n[^]*?- name: Set up the tool chain\n)/,
      '$1        env: { TOKEN: "${{ github.token }}" }\n',
    ],
    [asking, /(measure:\n[^]*?git clone --quiet)/, '$1 -c credential.helper=store'],
  ],
  'a job that asks programs holds one secret in one step, and a token only to clone': [
    [asking, 'command: propose\n', 'command: propose\n          github-token: ${{ github.token }}\n'],
    [asking, 'command: propose\n', 'command: propose\n          app-token: ${{ steps.a.outputs.token }}\n'],
    [asking, /contents: read # to clone/, 'contents: write # to clone'],
    [asking, 'secrets.WINNOW_MODEL_KEY }}', 'secrets.DEPLOY_KEY }}'],
    [asking, /(winnow-agents .*)/, '$1\n        env: { KEY: "${{ secrets.WINNOW_MODEL_KEY }}" }'],
  ],
  'a job that asks models runs winnow alone, and holds one secret in one step': [
    [judged, 'command: judge\n', 'command: judge\n          github-token: ${{ github.token }}\n'],
    [judged, 'command: judge\n', 'command: judge\n          app-token: ${{ steps.a.outputs.token }}\n'],
    [judged, /(\n {2}judge:\n[^]*?)contents: read # to clone/, '$1contents: write # to clone'],
    [judged, /(command: judge[^]*?)secrets\.WINNOW_MODEL_KEY }}/, '$1secrets.DEPLOY_KEY }}'],
    [judged, 'vars.WINNOW_MODEL_URL', 'secrets.WINNOW_MODEL_URL'],
    [judged, '      - name: Ask models', '      - run: npm ci\n      - name: Ask models'],
    [judged, '      - name: Ask models', '      - uses: ./repository\n      - name: Ask models'],
  ],
  'no job calls a workflow': [
    [asking, '    runs-on: ubuntu-24.04\n', '    uses: somebody/winnow/.github/workflows/tick.yml@main\n'],
  ],
  'actions are pinned to commits, or come from the default branch': [
    [asking, /@[0-9a-f]{40} # v6.0.2/, '@v6'],
    [asking, './repository/.github/', './trusted/.github/'],
    [asking, './repository/.github/actions/winnow-agents', './repository/tools'],
    [asking, /somebody\/winnow@\S+/, 'somebody/winnow@main'],
    [
      own,
      /ref: \$\{\{ github.event.repository.default_branch }}/,
      'ref: ${{ github.event.pull_request.head.sha }}',
    ],
    [own, './ #', './tools #'],
    [own, 'git clone --quiet "$url" repository', 'git clone --quiet --branch "$IDEA" "$url" repository'],
    [asking, 'uses: somebody/winnow', 'uses: $/winnow'],
  ],
  'no credential stays in a clone': [
    [asking, '          persist-credentials: false\n', ''],
    [asking, 'persist-credentials: false', 'persist-credentials: true'],
    [
      asking,
      'git clone --quiet "$url"',
      'git clone --quiet "https://x:$GITHUB_TOKEN@github.com/$GITHUB_REPOSITORY"',
    ],
    [single, 'rm -rf repository\n', 'git config --global http.extraheader "$login"\n'],
  ],
  'a file with triggers of pull requests checks out the default branch alone': [
    [
      asking,
      'ref: ${{ github.event.repository.default_branch }}',
      'ref: ${{ github.event.pull_request.head.sha }}',
    ],
    [
      asking,
      'ref: ${{ github.event.repository.default_branch }}',
      'ref: refs/pull/${{ github.event.issue.number }}/head',
    ],
    [asking, '          ref: ${{ github.event.repository.default_branch }}\n', ''],
  ],
  'no expression stands in a script': [
    [asking, 'for socket in', 'for socket in ${{ needs.tick.outputs.propose }}'],
    [asking, 'for n in', 'for n in ${{ matrix.order }}'],
    [single, 'rm -rf repository', 'rm -rf ${{ github.event.pull_request.title }}'],
  ],
  'nothing is obeyed that is printed': [[asking, 'for socket in', 'echo a >> "$GITHUB_ENV"; for socket in']],
  'no cache is saved or restored': [
    [asking, 'actions/upload-artifact@', 'actions/cache@'],
    [asking, 'actions/upload-artifact@', 'actions/cache/restore@'],
    [asking, 'fetch-depth: 0', 'cache: npm'],
  ],
  'pull requests of strangers start jobs for their base branch, on four occasions': [
    [asking, "branches: ['optimize/**']\n", "branches: ['**']\n"],
    [asking, "    branches: ['optimize/**']\n", ''],
    [asking, 'types: [opened, synchronize, reopened, closed]', 'types: [opened, labeled]'],
    [single, 'types: [created]', 'types: [created, edited]'],
    [asking, 'types: [submitted, dismissed]', 'types: [submitted, edited]'],
  ],
  'reviews on forks and comments that are no commands start nothing': [
    [asking, 'github.event.pull_request.head.repo.full_name == github.repository &&', ''],
    [asking, /startsWith\(github.event.pull_request.base.ref, '[^']*'\)/, 'true'],
    [single, 'github.event.issue.pull_request &&', ''],
    [
      single,
      "startsWith(github.event.comment.body, '/winnow')",
      "contains(github.event.comment.body, '/winnow')",
    ],
  ],
  'no job waits for workflow_run, and pull_request never meets a token that writes': [
    [asking, '  workflow_dispatch:\n', '  workflow_run: { workflows: [winnow] }\n  workflow_dispatch:\n'],
    [asking, '  workflow_dispatch:\n', '  pull_request: {}\n  workflow_dispatch:\n'],
  ],
  'a pause is seen before anything starts': [
    [asking, /\(vars\.WINNOW_PAUSED[^)]*\) &&/, ''],
    [single, 'vars.WINNOW_PAUSED', 'vars.ANOTHER'],
    [asking, /(settle:[^]*?always\(\) && )\(vars[^)]*\) && /, '$1'],
    [asking, /(measure:[^]*?if: >-\s+)\(vars[^)]*\) &&\s+/, '$1'],
    [asking, "== 'false') &&", "== 'false') ||"],
  ],
  'a condition is one expression': [
    [asking, /if: (steps\.measure\.outputs\.report .*)/, 'if: ${{ $1 }} && true'],
    [asking, 'if: >-', 'if: |'],
  ],
  'experiments are measured in dispatched runs on another branch than the default one': [
    [asking, ' &&\n      github.ref_name != github.event.repository.default_branch', ''],
    [asking, "      github.event_name == 'workflow_dispatch' &&\n", ''],
    [asking, "github.event_name == 'workflow_dispatch' &&", "github.event_name == 'workflow_dispatch' ||"],
    [asking, /(measure:[^]*?)needs.tick.outputs.orders != '' &&/, '$1true &&'],
  ],
  'settle follows all other jobs, however they ended, where one was due': [
    [judged, 'needs: [tick, propose, judge, measure]', 'needs: [tick, propose, judge]'],
    [judged, 'if: always() && (vars', 'if: (vars'],
    [judged, " && needs.tick.result != 'skipped' &&", ' &&'],
    [judged, " || needs.tick.outputs.judge != ''", ''],
  ],
  'writers wait in one line with a literal name, all others in none': [
    [asking, 'group: winnow\n', 'group: winnow-${{ github.ref }}\n'],
    [asking, 'cancel-in-progress: false', 'cancel-in-progress: true'],
    [asking, '      queue: max\n', ''],
    [single, '      cancel-in-progress: false\n', '      cancel-in-progress: false\n      queue: max\n'],
    [asking, '\njobs:', '\nconcurrency: winnow\njobs:'],
    [asking, '    timeout-minutes: 350', '    concurrency: winnow\n    timeout-minutes: 350'],
  ],
  'every job has an end': [
    [asking, '    timeout-minutes: 20\n', ''],
    [single, 'timeout-minutes: 350', 'timeout-minutes: 900'],
  ],
  'code of others starts without root, or beside users made for it': [
    [asking, /if sudo -n true.*/, ''],
    [asking, '      - name: Ask for ideas', '      - run: sudo true\n      - name: Ask for ideas'],
    [asking, /(measure:[^]*)sudo chmod -R o-w.*/, '$1true; fi'],
    [single, 'in /opt /usr/share;', 'in /opt;'],
    [asking, 'sudo sh -ec', 'sudo sh -c'],
    [asking, 'useradd --system', 'useradd --system --groups docker'],
    [single, 'winnow-$n; done', 'winnow-$n; done; usermod -aG sudo winnow-1'],
    [single, "if: runner.environment == 'github-hosted'", "if: runner.environment == 'self-hosted'"],
    [asking, '      - name: Measure', '      - run: sudo true\n      - name: Measure'],
  ],
  'no action with a post step is beside code of others': [
    [asking, /(\n {2}measure:[^]*?    steps:\n)/, `$1      - uses: actions/checkout@${'a'.repeat(40)}\n`],
    [asking, /(\n {2}propose:[^]*?    steps:\n)/, `$1      - uses: actions/setup-node@${'a'.repeat(40)}\n`],
    [single, /(    steps:\n)/, `$1      - uses: somebody/action@${'a'.repeat(40)}\n`],
  ],
  'after code of others only its files are uploaded': [
    [
      asking,
      '      - name: Upload the answers',
      '      - run: make publish\n      - name: Upload the answers',
    ],
    [asking, '      - name: Upload the report', '      - run: make publish\n      - name: Upload the report'],
    [asking, '\n  settle:', `\n      - uses: actions/upload-artifact@${'a'.repeat(40)}\n  settle:`],
  ],
  'each measuring job tells in its slot how it ended and what it uploaded': [
    [asking, '{{ matrix.slot == 7 &&', '{{ matrix.slot == 8 &&'],
    [asking, /      slot-19: .*\n/, ''],
    [asking, "format('{0} {1}', job.status, ", "format('success {1}', job.status, "],
    [asking, 'steps.hand.outputs.artifact-digest || ', ''],
    [asking, 'name: partial-${{ matrix.order }}', 'name: report-${{ matrix.order }}'],
    [asking, "if: steps.measure.outputs.report != ''", "if: always() && steps.measure.outputs.report != ''"],
  ],
  'a job that asks tells the digest of what it uploaded': [
    [
      asking,
      'digest: ${{ steps.hand.outputs.artifact-digest }}',
      'digest: ${{ steps.propose.outputs.report }}',
    ],
    [judged, /(judge:\n[^]*?)        id: hand\n/, '$1'],
  ],
  'only items of the tick before are downloaded, outside the clone': [
    [judged, 'path: ${{ runner.temp }}/winnow-items', 'path: .'],
    [judged, '/winnow-items\n', '/winnow-items\n          run-id: 7\n'],
    [judged, 'winnow-items/items.json', 'elsewhere/items.json'],
    [judged, /(download-artifact@.*\n\s+with:\n\s+name: )winnow-items/, '$1winnow-report'],
    [judged, /(judge:\n[^]*?)needs: tick/, '$1needs: propose'],
  ],
  'models are asked also where there is nothing to ask about: otherwise it counts as having spent': [
    [judged, /(items to score\n\s+)continue-on-error: true/, '$1if: always()'],
    [judged, '      - name: Ask models', '      - if: success()\n        name: Ask models'],
  ],
  'an upload is one file that a step named': [
    [asking, 'if-no-files-found: error', 'if-no-files-found: ignore'],
    [asking, 'path: ${{ steps.measure.outputs.report }}', 'path: .'],
    [judged, 'path: ${{ steps.tick.outputs.items }}', 'path: .'],
    [asking, 'if-no-files-found: error', 'if-no-files-found: error\n          overwrite: true'],
  ],
  'a job that decides hands over what it could not push, however its step ended': [
    [asking, "if: always() && steps.tick.outputs.report != ''", "if: steps.tick.outputs.report != ''"],
    [asking, "steps.settle.outputs.report != ''", "steps.tick.outputs.report != ''"],
    [judged, 'path: ${{ steps.tick.outputs.items }}', 'path: ${{ steps.tick.outputs.report }}'],
    [single, /      - name: Upload what could not be pushed[^]*/, ''],
    [single, 'name: ${{ steps.run.outputs.artifact }}', 'name: winnow-unwritten'],
  ],
}

describe('each rule notices what it is for', () => {
  it('and none is without a counter-example', () => {
    expect(Object.keys(COUNTER).toSorted()).toEqual(RULES.toSorted())
  })

  const cases = Object.entries(COUNTER).flatMap(([rule, changes]) =>
    changes.map(([text, from, to]) => [`${rule}: ${to.trim().slice(0, 60)}`, rule, text, from, to] as const),
  )
  it.each(cases)('%s', (_name, rule, text, from, to) => {
    const changed = text.replace(from, to)
    expect(changed).not.toBe(text)
    expect(checkWorkflow(changed).map(finding => finding.rule)).toContain(rule)
  })

  it('in the steps of the set-up action too', () => {
    expect(checkAction(setup.replace(/@[0-9a-f]{40}/, '@v6'))).toHaveLength(1)
    const caching = setup.replace('package-manager-cache: false', 'package-manager-cache: true')
    expect(checkAction(caching)).toHaveLength(1)
    expect(checkAction(setup.replace('actions/setup-node', 'actions/cache'))).toHaveLength(1)
  })
})
