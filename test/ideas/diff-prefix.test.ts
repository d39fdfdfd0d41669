import { describe, expect, it } from 'vitest'
import { hasDiff, listDiffReadings, splitDiffLines, withPrefixes } from '../../src/ideas/diff.ts'
import { userRepository } from '../git/scratch.ts'

function prefixed(diff: string): string {
  return withPrefixes(splitDiffLines(diff))
    .map(({ text }) => text)
    .join('\n')
}

/** One of everything git can say about a file. */
function changedRepository() {
  const user = userRepository()
  user.commit('more', {
    'a/same.txt': 'x\n',
    'b/moved.txt': 'one\ntwo\nthree\nfour\nfive\n',
    'gone.txt': '-- gone\n',
    'ümlaut "q".txt': '++ x\n',
    'two words.txt': '1\n',
    data: '\0',
  })
  user.git('mv', 'b/moved.txt', 'a/moved.txt')
  user.git('rm', '-q', 'gone.txt')
  user.commit('changes', {
    'a/same.txt': '--- a/x\n+++ b/x\n',
    'a/moved.txt': 'one\ntwo\nthree\nfour\n5\n',
    'ümlaut "q".txt': '@@ -1 +1 @@\n',
    'two words.txt': '2\n',
    'new/file.txt': 'diff --git x x\n',
    data: '\0\0',
  })
  return user
}

describe('prefixes', () => {
  const range = ['-M', '--binary', 'HEAD~1', 'HEAD']

  it('are added where git adds them, and nowhere else', () => {
    const { git } = changedRepository()
    expect(prefixed(git('diff', '--no-prefix', ...range))).toBe(git('diff', ...range))
  })

  it('that exist stay as they are', () => {
    const { git } = changedRepository()
    for (const prefixes of [[], ['--src-prefix=i/', '--dst-prefix=w/']]) {
      const diff = git('diff', ...prefixes, ...range)
      expect(prefixed(diff)).toBe(diff)
    }
  })
})

describe('the readings of a diff', () => {
  it('is usually one', () => {
    expect(listDiffReadings('--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n')).toHaveLength(1)
  })

  it('are two if every line has a carriage return: content with it first, then without', () => {
    const readings = listDiffReadings('--- a/x\r\n+++ b/x\r\n@@ -1 +1 @@\r\n-1\r\n+2\r\n')
    expect(readings).toEqual([
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\r\n+2\r\n',
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n',
    ])
  })

  it('are none in prose, even with lines of dashes', () => {
    expect(listDiffReadings('Dear all,\n--- \nsee below\n---\n')).toBeNull()
    expect(hasDiff(splitDiffLines('--- a/x\nnot a diff\n'))).toBe(false)
  })
})
