import { describe, expect, it } from 'vitest'
import { archiveHasFolder, TAIL_BYTES } from '../../../src/core/media/sniff.ts'
import { docx, zip } from '../../support/files.ts'

describe('archiveHasFolder', () => {
  it('finds both the types and the folder, wherever they stand in the table', () => {
    expect(archiveHasFolder(docx(), 'word/')).toBe(true)
    expect(archiveHasFolder(docx({ typesLast: true }), 'word/')).toBe(true)
    expect(archiveHasFolder(docx(), 'xl/')).toBe(false)
  })

  it.each([
    [['[Content_Types].xml', 'a.txt']],
    [['[Content_Types].xml', 'a/word/b.xml']],
    [['[Content_Types].xml', 'word']],
    [['[Content_Types].xml.bak', 'word/b.xml']],
    [['a/[Content_Types].xml', 'word/b.xml']],
    [['word/b.xml']],
  ])('does not take %j for a text document', names => {
    const archive = zip(names.map(name => ({ name, data: Buffer.from('a') })))
    expect(archiveHasFolder(archive, 'word/')).toBe(false)
  })

  it('does not copy the long names that a hostile table claims', () => {
    const tail = Buffer.alloc(TAIL_BYTES, Buffer.from('PK\x01\x02\xff\xff', 'latin1'))
    const before = process.memoryUsage().heapUsed
    expect(archiveHasFolder(tail, 'word/')).toBe(false)
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(50_000_000)
  })
})
