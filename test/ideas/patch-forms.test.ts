import { describe, expect, it } from 'vitest'
import type { Proposal } from '../../src/plan/world.ts'
import { proposePatches, readPatches } from '../../src/ideas/patch.ts'
import { readMails, readPatchText } from '../../src/ideas/patch-text.ts'
import { scratch, userRepository } from '../git/scratch.ts'
import { aCampaign, contentOf, movedOn, type Start, useRepository } from './incumbent.ts'

const startWith = useRepository()

const ONE = '1\n2\nthree\n4\n5\n'
const TWO = '1\n2\nthree\nfour\n5\n'

/** What a person exports: commits on the same start, as git prints them. */
function exported(
  commits: readonly (readonly [message: string, files: Record<string, string>])[],
  ...command: string[]
): string {
  const user = userRepository({ dir: scratch() })
  for (const [message, files] of commits) user.commit(message, files)
  return `${user.git(...command)}\n`
}

const SERIES = [
  ['Use words\n\nBecause they are clearer.', { 'src/a.txt': ONE }],
  ['Use more words', { 'src/a.txt': TWO }],
  ['Say hello twice', { 'README.md': 'hello\nhello\n' }],
] as const

async function propose(start: Start, incumbent = start.main): Promise<Proposal[]> {
  const files = await readPatches(start.repository, start.main.tree, 'patches')
  return proposePatches({
    repo: start.repository,
    files,
    incumbent,
    fallbackBase: start.main,
    campaign: aCampaign(),
    limit: 10,
    prepared: new Map(),
  })
}

function commitOf(proposal: Proposal | undefined): string {
  if (proposal === undefined) throw new Error('nothing was proposed')
  if ('rejected' in proposal.head) throw new Error(proposal.head.rejected)
  return proposal.head.commit
}

const words = (text: string, path = 'patches/0001-use-a-map.patch') =>
  readPatchText(text, path).map(({ idea }) => idea.hypothesis)
const DIFF = '--- a/src/a.txt\n+++ b/src/a.txt\n@@ -2,3 +2,3 @@\n 2\n-3\n+three\n 4\n'

describe('the hypothesis of a patch without front matter', () => {
  it('is the subject of git format-patch', () => {
    const mail = exported(SERIES.slice(0, 1), 'format-patch', '--stdout', '-1')
    expect(words(mail)).toEqual(['Use words'])
    expect(words(mail.replaceAll('\n', '\r\n'))).toEqual(['Use words'])
  })

  it.each([
    ['Subject: [PATCH v2 2/3] Use a map', 'Use a map'],
    ['Subject: Re: [PATCH] Use a map', 'Use a map'],
    ['Subject: [RFC][PATCH 1/1] Use a map', 'Use a map'],
    ['Subject: Use a\n map', 'Use a map'],
    ['Subject: =?UTF-8?q?K=C3=BCrzer=20z=C3=A4hlen?=', 'Kürzer zählen'],
    ['Subject: [PATCH] =?UTF-8?B?S8O8cnplciA=?=\n =?UTF-8?B?esOkaGxlbg==?=', 'Kürzer zählen'],
    ['Subject: =?UTF-8?q?split=20=C3?=\n =?UTF-8?q?=A4=20here?=', 'split ä here'],
    ['Subject: =?iso-8859-1?q?K=FCrzer?= code', 'Kürzer code'],
    ['Subject: =?nonsense?q?x?=', '=?nonsense?q?x?='],
  ])('is taken from %j', (subject, hypothesis) => {
    const mail = `From: A <a@example.org>\nDate: Mon, 1 Jan 2024 10:00:00 +0000\n${subject}\n\nwhy\n---\n${DIFF}`
    expect(words(mail)).toEqual([hypothesis])
  })

  it.each([
    'A subject of many words that git has to fold into several lines because it is so long',
    'Zähle kürzer',
  ])('is decoded from git: %s', subject => {
    const mail = exported([[subject, { 'src/a.txt': ONE }]], 'format-patch', '--stdout', '-1')
    expect(words(mail)).toEqual([subject])
  })

  it('is the message that git show prints', () => {
    expect(words(exported(SERIES.slice(0, 1), 'show'))).toEqual(['Use words'])
  })

  it('is the line before the diff, or else the file name', () => {
    expect(words(`Use a map instead\n\n${DIFF}`)).toEqual(['Use a map instead'])
    expect(words(DIFF)).toEqual(['use a map'])
    expect(words(`diff --git a/src/a.txt b/src/a.txt\n${DIFF}`, 'p/faster_loop.diff')).toEqual([
      'faster loop',
    ])
    expect(words(`Index: a.txt\n=====\n${DIFF}`)).toEqual(['use a map'])
  })
})

describe('a patch without front matter', () => {
  it('is an idea in any form', async () => {
    const start = await startWith({
      'patches/a.diff': DIFF,
      'patches/b.patch': exported(SERIES.slice(0, 1), 'format-patch', '--stdout', '-1'),
      'patches/c.mbox': exported(SERIES.slice(0, 1), 'format-patch', '--stdout', '-1'),
      'patches/d.patch': exported(SERIES.slice(0, 1), 'diff', 'HEAD~1'),
      'patches/e.txt': DIFF,
    })
    const proposals = await propose(start)
    expect(proposals.map(({ hypothesis }) => hypothesis)).toEqual(['a', 'Use words', 'Use words', 'd'])
    for (const proposal of proposals)
      expect(await contentOf(start.repository, commitOf(proposal), 'src/a.txt')).toBe(ONE)
  })

  it('applies if its lines have moved', async () => {
    const start = await startWith({ 'patches/a.diff': DIFF })
    const incumbent = await movedOn(start.repository, start.main, {
      'src/a.txt': 'new\nnew\n1\n2\n3\n4\n5\n',
    })
    const [proposal] = await propose(start, incumbent)
    expect(await contentOf(start.repository, commitOf(proposal), 'src/a.txt')).toBe(`new\nnew\n${ONE}`)
  })

  it.each(['quoted-printable', 'base64'])('is decoded from %s', encoding => {
    const diff = DIFF.replace('three', 'drei = ä')
    const body =
      encoding === 'base64'
        ? Buffer.from(diff).toString('base64').replaceAll(/.{60}/g, '$&\n')
        : diff.replaceAll('=', '=3D').replaceAll('ä', '=C3=A4').replace('+drei', '+dr=\nei')
    const mail = `From: A <a@example.org>\nSubject: x\nContent-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: ${encoding}\n\n${body}`
    const [found] = readPatchText(mail, 'x.eml')
    expect(found?.content).toMatchObject({ diffs: [{ diff }] })
  })

  it.each([
    [
      'a mail with attachments',
      'From: A <a@b>\nSubject: x\nContent-Type: multipart/mixed; boundary=1\n\n',
      /^x\.eml:5: it is a mail with attachments/,
    ],
    ['words', 'I made it faster!\n', /^x\.eml:1: there is no diff in it; make it with git format-patch/],
    ['nothing', '', /^x\.eml:1: the file is empty/],
    [
      'very large content',
      'From: A <a@b>\nSubject: x\n\ndiff --git a/b b/b\nGIT binary patch\nliteral 99999999\n',
      /^x\.eml:5: its binary content is larger than 16 MiB; propose so large a change as a branch/,
    ],
  ])('that is %s is refused with its line', (_, text, problem) => {
    const [found] = readPatchText(text, 'x.eml')
    expect(found?.content).toEqual({ problem: expect.stringMatching(problem) })
  })
})

describe('a mailbox of several patches', () => {
  const mboxOf = () => exported(SERIES, 'format-patch', '--stdout', '-3')

  it('is one idea per mail; a mail that needs earlier ones of its series includes them', async () => {
    const mbox = mboxOf()
    const start = await startWith({ 'patches/all.mbox': mbox })
    const proposals = await propose(start)
    expect(proposals.map(({ hypothesis }) => hypothesis)).toEqual([
      'Use words',
      'Use more words',
      'Say hello twice',
    ])
    const contents = await Promise.all(
      proposals.map(proposal => contentOf(start.repository, commitOf(proposal), 'src/a.txt')),
    )
    expect(contents).toEqual([ONE, TWO, '1\n2\n3\n4\n5\n'])
    expect(proposals.map(({ learnings }) => learnings)).toEqual([
      null,
      expect.stringContaining('was measured together with them'),
      null,
    ])
  })

  it('identifies each mail by its own content', async () => {
    const mbox = mboxOf()
    const keys = async (text: string) =>
      (await propose(await startWith({ 'patches/all.mbox': text }))).map(({ source }) => source.key)
    const before = await keys(mbox)
    const more = exported([...SERIES, ['A fourth', { 'src/d.txt': 'd\n' }]], 'format-patch', '--stdout', '-4')
    expect(new Set(before).size).toBe(3)
    expect((await keys(more)).slice(0, 3)).toEqual(before)
  })

  it('is one idea with front matter, whose patches are applied in order', async () => {
    const mbox = mboxOf()
    const start = await startWith({ 'patches/all.patch': `---\nhypothesis: Words\n---\n${mbox}` })
    const proposals = await propose(start)
    expect(proposals.map(({ hypothesis }) => hypothesis)).toEqual(['Words'])
    const commit = commitOf(proposals[0])
    expect(await contentOf(start.repository, commit, 'src/a.txt')).toBe(TWO)
    expect(await contentOf(start.repository, commit, 'README.md')).toBe('hello\nhello\n')
  })

  it('leaves out a cover letter and duplicate mails', () => {
    const mbox = mboxOf()
    const cover = 'From 1 Mon Sep 17 00:00:00 2001\nFrom: A <a@b>\nSubject: [PATCH 0/3] Words\n\nwhy\n\n'
    expect(words(cover + mbox + mbox)).toEqual(['Use words', 'Use more words', 'Say hello twice'])
  })

  it('names the line of the mail that does not apply', async () => {
    const mbox = mboxOf()
    const damaged = mbox.replace('-3\n', '-nine\n')
    const line = damaged.split('\n').findIndex(each => each.startsWith('@@')) + 1
    const [first] = await propose(await startWith({ 'patches/all.mbox': damaged }))
    expect(first?.head).toEqual({
      rejected: `patches/all.mbox:${line} does not apply to the incumbent: src/a.txt does not match at line 1`,
    })
  })

  it('is not split at a mail that a message or a diff quotes', () => {
    const mbox = mboxOf()
    const quoting = mbox.replace(
      'Because they are clearer.',
      'From me Mon Sep 17 00:00:00 2001\nno header\n\nSubject: not one',
    )
    expect(readMails(quoting)?.length).toBe(3)
  })
})
