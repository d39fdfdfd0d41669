import { describe, expect, test } from 'vitest'
import { SIZE_SPEC } from '../engine/size-yard.ts'
import { onGithub } from './on-github.ts'

const CI = 'on: { push: {}, pull_request: { branches: [main] } }\njobs: {}\n'
const QUIET = "on: { push: { branches-ignore: ['optimize*/**'] } }\njobs: {}\n"
const OLD = `on: { workflow_dispatch: {} }\njobs: { tick: { steps: [{ uses: x }] } }\n# uses: o/winnow@${'0'.repeat(40)}\n`

test('the doctor says what stands in the way, as far as the token may see, and changes nothing', async () => {
  const there = await onGithub([])
  const { github, winnow, env } = there
  there.commit('main', { '.github/workflows/ci.yml': CI, '.github/workflows/lint.yml': QUIET })
  const branches = () => there.git('for-each-ref', '--format=%(refname)')
  const before = branches()
  const job = await winnow('doctor')
  expect(job).toContain("!!  .github/workflows/ci.yml runs on winnow's branches too (push)")
  expect(job).toContain("ok  .github/workflows/lint.yml leaves winnow's branches alone")
  expect(job.join('\n')).toContain("add on.push.branches-ignore: ['optimize*/**']")
  expect(job.join('\n')).toContain("winnow's workflows are not on the default branch")
  expect(job.join('\n')).toContain('GitHub was not asked: there is no token')

  github.world.settings.actionsMayOpenPulls = false
  for (const name of ['winnow', 'winnow-measure', 'winnow-wake'])
    there.commit('main', { [`.github/workflows/${name}.yml`]: 'on: { workflow_dispatch: {} }\njobs: {}\n' })
  github.world.workflowStates.set('.github/workflows/winnow.yml', 'disabled_inactivity')
  env['GH_ENTERPRISE_TOKEN'] = github.token('root', { permission: 'admin' })
  const admin = await winnow('doctor')
  expect(admin.join('\n')).toContain('approve pull requests" is off')
  expect(admin.join('\n')).toContain('winnow.yml is off (disabled_inactivity)')
  expect(admin.join('\n')).toContain("winnow's workflows are on the default branch")
  expect(admin).toContain("ok  no rule stands in the way of winnow's branches")
  expect(admin).toContain('ok  the clock is right')

  there.commit('main', { '.github/workflows/winnow.yml': OLD })
  expect((await winnow('doctor')).join('\n')).toContain('winnow.yml is not what this winnow writes')
  const called = OLD.replace('o/winnow@', 'o/winnow/.github/workflows/reusable-tick.yml@')
  there.commit('main', { '.github/workflows/winnow.yml': called })
  expect((await winnow('doctor')).join('\n')).toContain(
    'winnow init --github --reusable --action o/winnow@0000',
  )
  env['GH_ENTERPRISE_TOKEN'] = github.token('eve', { permission: 'read' })
  const reader = await winnow('doctor')
  expect(reader.join('\n')).toContain("needs an administrator's token")
  env['GH_ENTERPRISE_TOKEN'] = 'expired'
  const wrong = await winnow('doctor')
  expect(wrong.join('\n')).toContain('check the token')
  expect(branches()).toBe(before)
})

describe('of the rules on its branches the doctor says', () => {
  const PULLS = {
    required_pull_request_reviews: { require_code_owner_reviews: false, dismiss_stale_reviews: false },
  }

  async function asked(permission: 'admin' | 'read', spec = '') {
    const there = await onGithub([], { spec })
    await there.post.start()
    there.env['GH_ENTERPRISE_TOKEN'] = there.github.token('somebody', { permission })
    return { ...there, says: async () => (await there.winnow('doctor')).join('\n') }
  }

  test('which ruleset would refuse its pushes, on which branch, and when GitHub may merge instead', async () => {
    const { github, says } = await asked('read')
    github.world.rules.push({ under: 'optimize/', type: 'pull_request' })
    expect(await says()).toMatch(
      /!! {2}rules on optimize\/size would refuse winnow's pushes: pull_request\n {6}exclude optimize\*\/\*\* .*; or set merge.via: api/,
    )
    github.world.rules.push({ under: 'optimize/', type: 'required_linear_history' })
    const linear = await says()
    expect(linear).toContain('pull_request, required_linear_history')
    expect(linear).not.toContain('merge.via')
    github.world.rules.splice(0, 2, { under: 'optimize-state/', type: 'update' })
    const ledger = await says()
    expect(ledger).toContain("rules on optimize-state/size would refuse winnow's pushes: update")
    expect(ledger).not.toContain('merge.via')
  })

  test('what classic protection would refuse, as far as the token is told of it', async () => {
    const { github, env, says } = await asked('read')
    github.world.protection.set('optimize/size', PULLS)
    expect(await says()).toContain('??  optimize/size is protected; how is told to administrators alone')
    env['GH_ENTERPRISE_TOKEN'] = github.token('root', { permission: 'admin' })
    const told = await says()
    expect(told).toContain("rules on optimize/size would refuse winnow's pushes: pull_request")
    expect(told).toContain('or set merge.via: api')
    github.world.protection.set('optimize/size', { lock_branch: { enabled: true } })
    expect(await says()).toContain("would refuse winnow's pushes: update")
    github.world.protection.set('optimize/size', { allow_force_pushes: { enabled: false } })
    expect(await says()).toContain("ok  no rule stands in the way of winnow's branches")
  })

  test('that they are as they should be where GitHub merges', async () => {
    const { github, says } = await asked('read', 'merge: { via: api }\n')
    github.world.rules.push({ under: 'optimize/', type: 'pull_request' })
    expect(await says()).toContain(
      'ok  optimize/size takes no pushes (pull_request), and merge.via: api has GitHub merge there',
    )
  })
})

test('a spec for GitHub is checked as one where it is on GitHub, and refused in one sentence elsewhere', async () => {
  const { winnow, env } = await onGithub([], { spec: 'merge: { via: api }\n' })
  const said = async () => (await winnow('check', '--no-try')).join('\n')
  expect(await said()).toContain(
    'merge.via api: merging through the API is, but on GitHub, not built yet; use push.',
  )
  Object.assign(env, { GITHUB_REPOSITORY: 'team/project', GITHUB_API_URL: 'http://127.0.0.1/api/v3' })
  expect(await said()).not.toContain('not built')
})

test('the doctor knows git, the scopes of a classic token, and every workflow that is off', async () => {
  const there = await onGithub([])
  const { github, winnow, env } = there
  for (const name of ['winnow', 'winnow-measure', 'winnow-wake'])
    there.commit('main', { [`.github/workflows/${name}.yml`]: 'on: { workflow_dispatch: {} }\njobs: {}\n' })
  github.world.workflowStates.set('.github/workflows/winnow.yml', 'active')
  github.world.workflowStates.set('.github/workflows/winnow-measure.yml', 'disabled_manually')
  env['GH_ENTERPRISE_TOKEN'] = github.token('ada', { scopes: ['gist'] })
  const gist = (await winnow('doctor')).join('\n')
  expect(gist).toMatch(/ok {2}git \d+\.\d+\S* is new enough/)
  expect(gist).toContain("!!  the token's scopes are gist: it may not push")
  expect(gist).toContain('winnow-measure.yml is off (disabled_manually): nothing starts it')
  expect(gist).toContain('ok  .github/workflows/winnow.yml is on')
  env['GH_ENTERPRISE_TOKEN'] = github.token('bob', { scopes: ['repo'] })
  expect((await winnow('doctor')).join('\n')).toContain('a sync that brings workflow files would be refused')
  env['GH_ENTERPRISE_TOKEN'] = github.token('eva', { scopes: ['repo', 'workflow'] })
  expect(await winnow('doctor')).toContain("ok  the token's scopes are enough (repo, workflow)")
})

test('the doctor sends the token for github.com to no other address, and says what a server may refuse', async () => {
  const there = await onGithub([])
  const { github, winnow, env } = there
  env['GITHUB_TOKEN'] = github.token('ada', { permission: 'admin' })
  env['GH_TOKEN'] = env['GITHUB_TOKEN']
  const before = github.api.log.length
  const uploads = `on: {}\njobs: {}\n# uses: actions/upload-artifact@${'ab'.repeat(20)} # v6.0.0\n`
  there.commit('main', { '.github/workflows/winnow-measure.yml': uploads })
  const said = (await winnow('doctor')).join('\n')
  expect(github.api.log.slice(before)).toEqual([])
  expect(said).toMatch(/GitHub was not asked: there is no token for 127\.0\.0\.1:\d+/)
  expect(said).toMatch(/GH_ENTERPRISE_TOKEN=\$\(gh auth token --hostname 127\.0\.0\.1:\d+\) winnow doctor/)
  expect(said).toContain(
    'winnow-measure.yml: artifacts of version 4 and newer are refused by Enterprise Servers',
  )
  there.commit('main', { '.github/workflows/winnow-measure.yml': uploads.replace('v6.0.0', 'v3.2.1') })
  expect((await winnow('doctor')).join('\n')).not.toContain('artifacts of version 4')
})

test('init says as well what a server may refuse', async () => {
  const there = await onGithub([])
  const said = await there.winnow('init', '--github', '--action', `o/winnow@${'0'.repeat(40)}`)
  expect(said.at(-1)).toMatch(
    /^If 127\.0\.0\.1:\d+ is a GitHub Enterprise Server: in the workflows, replace the commits/,
  )
  there.env['GITHUB_API_URL'] = 'https://api.github.com'
  there.env['GITHUB_REPOSITORY'] = 'team/project'
  expect(
    (await there.winnow('init', '--github', '--action', `o/winnow@${'0'.repeat(40)}`)).at(-1),
  ).not.toContain('Server')
})

test('the doctor misses the job that asks programs, then what sets them up, then says where their key belongs', async () => {
  const there = await onGithub([])
  const idle = 'on: { workflow_dispatch: {} }\njobs: {}\n'
  const files = ['winnow', 'winnow-measure', 'winnow-wake'].map(name => [
    `.github/workflows/${name}.yml`,
    idle,
  ])
  there.commit('main', Object.fromEntries(files))
  const said = async () => (await there.winnow('doctor')).join('\n')
  expect(await said()).not.toContain('programs')
  const spec = SIZE_SPEC.replace(/propose: .*/, 'propose: [{ use: command, preset: claude }]')
  there.commit('main', { '.winnow/size.yaml': spec })
  expect(await said()).toContain('size: programs are to be asked for ideas, and no job of')
  const asks =
    'on: { workflow_dispatch: {} }\njobs:\n  propose:\n    steps:\n      - with:\n          command: propose\n'
  there.commit('main', { '.github/workflows/winnow.yml': asks })
  expect(await said()).toContain(
    '.github/actions/winnow-agents/action.yml, by which programs of size are set up, is not',
  )
  there.commit('main', { '.github/actions/winnow-agents/action.yml': 'runs: {}\n' })
  expect(await said()).toContain('programs of size find a key in WINNOW_MODEL_KEY if that secret is there')
})
