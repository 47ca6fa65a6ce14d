import { type Colour, type StillFrame, stillFrame } from './still-frame.ts';

/** Ticks of the clip's clock, a second. */
const TICKS = 1000;
/** The unit matrix of a picture that is neither turned nor stretched, as 16.16 and 2.30 numbers. */
const UPRIGHT = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000];

/** A playable MP4 of about 7 KB: one H.264 picture of one colour, shown for the clip's duration. */
export function clipFile(durationSeconds: number, colour: Colour): Buffer {
  const still = stillFrame(colour);
  const sample = sized(still.frame, 4);
  const ticks = Math.max(1, Math.round(durationSeconds * TICKS));
  const fileType = box('ftyp', text('isom'), u32(0x200), text('isomiso2avc1mp41'));
  const movieOf = (sampleAt: number) => movie(still, ticks, sample.length, sampleAt);
  const sampleAt = fileType.length + movieOf(0).length + 8;
  return Buffer.concat([fileType, movieOf(sampleAt), box('mdat', sample)]);
}

function movie(still: StillFrame, ticks: number, sampleBytes: number, sampleAt: number): Buffer {
  const { width, height } = still;
  const times = [u32(0, 0)]; // created and changed: not told
  const track = box(
    'trak',
    full('tkhd', 3, ...times, u32(1, 0, ticks, 0, 0, 0, 0, ...UPRIGHT, width << 16, height << 16)),
    box(
      'mdia',
      full('mdhd', 0, ...times, u32(TICKS, ticks), u16(0x55c4, 0)), // language: undetermined
      full('hdlr', 0, u32(0), text('vide'), u32(0, 0, 0), text('video\0')),
      box(
        'minf',
        full('vmhd', 1, u16(0, 0, 0, 0)),
        box('dinf', full('dref', 0, u32(1), full('url ', 1))),
        sampleTable(still, ticks, sampleBytes, sampleAt),
      ),
    ),
  );
  const rest = u32(0, 0, ...UPRIGHT, 0, 0, 0, 0, 0, 0, 2);
  return box('moov', full('mvhd', 0, ...times, u32(TICKS, ticks, 0x10000), u16(0x100, 0), rest), track);
}

function sampleTable(still: StillFrame, ticks: number, sampleBytes: number, sampleAt: number): Buffer {
  const profile = still.sequence.subarray(1, 4);
  const configuration = box(
    'avcC',
    Buffer.from([1, ...profile, 0xff, 0xe1]),
    sized(still.sequence, 2),
    Buffer.from([1]),
    sized(still.picture, 2),
  );
  const entry = box(
    'avc1',
    u16(0, 0, 0, 1),
    u32(0, 0, 0, 0),
    u16(still.width, still.height),
    u32(0x480000, 0x480000, 0), // 72 dots an inch
    u16(1),
    Buffer.alloc(32), // name of the encoder: none
    u16(24, 0xffff),
    configuration,
  );
  return box(
    'stbl',
    full('stsd', 0, u32(1), entry),
    full('stts', 0, u32(1, 1, ticks)),
    full('stsc', 0, u32(1, 1, 1, 1)),
    full('stsz', 0, u32(sampleBytes, 1)),
    full('stco', 0, u32(1, sampleAt)),
  );
}

function box(type: string, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([u32(body.length + 8), text(type), body]);
}

/** A box with a version (0) and flags. */
function full(type: string, flags: number, ...parts: Buffer[]): Buffer {
  return box(type, u32(flags), ...parts);
}

function sized(bytes: Buffer, width: 2 | 4): Buffer {
  return Buffer.concat([width === 2 ? u16(bytes.length) : u32(bytes.length), bytes]);
}

function text(characters: string): Buffer {
  return Buffer.from(characters, 'latin1');
}

function u16(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  values.forEach((value, index) => void bytes.writeUInt16BE(value, index * 2));
  return bytes;
}

function u32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, index) => void bytes.writeUInt32BE(value, index * 4));
  return bytes;
}
