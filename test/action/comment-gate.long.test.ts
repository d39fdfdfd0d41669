import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SIZE_SPEC } from '../support/size-repository.ts'
import { scratch } from '../git/scratch.ts'
import { campaignOnGithub } from '../github/campaign-on-github.ts'

const SPEC = `${SIZE_SPEC}dependencies: { approvers: [carol] }\n`

test('the comment of somebody who may not steer costs three requests, a reaction and nothing else', async () => {
  const { github, ask, wake, wakes, offers, git } = await campaignOnGithub({}, SPEC)
  await wakes()
  const { number } = await offers('mine', { 'src/b.txt': 'b\n' })
  const tokens = {
    eve: github.token('eve', { permission: 'read' }),
    carol: github.token('carol', { permission: 'read' }),
    ada: github.token('ada'),
  }
  async function comments(who: keyof typeof tokens, body: string) {
    const { id } = await ask(tokens[who], `POST /issues/${number}/comments`, { body })
    const file = join(scratch(), 'event.json')
    writeFileSync(file, JSON.stringify({ comment: { id: Number(id), body, user: { login: who } } }))
    const before = git('for-each-ref')
    github.spent()
    const env = { GITHUB_EVENT_NAME: 'issue_comment', GITHUB_EVENT_PATH: file }
    const { code, out } = await wake({ env })
    const reactions = github.world.comments.find(each => each.id === Number(id))?.reactions
    const isSame = git('for-each-ref') === before
    return {
      code,
      out,
      spent: github.spent().length,
      isSame,
      reactions: reactions?.map(each => each.content),
    }
  }
  const refused = { code: 0, isSame: true, reactions: ['-1'] }
  for (const [who, body] of [
    ['eve', '/winnow stop'],
    ['eve', '/winnow approve exp-001'],
    ['carol', '/winnow stop'],
  ] as const) {
    const said = await comments(who, body)
    expect(said).toMatchObject(refused)
    expect(said.spent).toBeLessThanOrEqual(3)
    expect(said.out).toContain(`${who} has no write access here: winnow ignored the comment.`)
  }
  expect(await comments('eve', '/winnowing takes a while')).toMatchObject({ ...refused, reactions: [] })
  // Whom the spec trusts with approvals is heard with those.
  for (const body of ['/winnow approve exp-001', '/winnow approve-deps exp-001'])
    expect((await comments('carol', body)).out).not.toContain('no write access')
  expect(await comments('ada', '/winnow pause')).toMatchObject({ code: 0, isSame: false, reactions: ['+1'] })
}, 120_000)

test('an event that is none is refused, and so is nothing at all', async () => {
  const { wake } = await campaignOnGithub()
  const file = join(scratch(), 'event.json')
  for (const text of ['{}', '{"comment":{"id":"1","body":1}}']) {
    writeFileSync(file, text)
    const env = { GITHUB_EVENT_NAME: 'issue_comment', GITHUB_EVENT_PATH: file }
    const { code, out } = await wake({ env })
    expect([code, out]).toEqual([
      2,
      expect.stringContaining('GITHUB_EVENT_PATH does not hold an event issue_comment'),
    ])
  }
})
