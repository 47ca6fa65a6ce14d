/** A picture of one colour as H.264, without an encoder: every macroblock carries its raw samples (I_PCM), which any decoder shows. */
export type StillFrame = { width: number; height: number; sequence: Buffer; picture: Buffer; frame: Buffer };

/** Brightness and the two colour differences, 1 to 255 each. */
export type Colour = { y: number; cb: number; cr: number };

const SIDE_MACROBLOCKS = 4;
const MACROBLOCK = 16;
const CHROMA_SAMPLES = 64;
const I_PCM = 25;

/** A square of 64 × 64 pixels. */
export function stillFrame(colour: Colour): StillFrame {
  const side = SIDE_MACROBLOCKS * MACROBLOCK;
  return { width: side, height: side, sequence: sequenceSet(), picture: pictureSet(), frame: keyFrame(colour) };
}

/** Baseline profile, level 1; pictures are shown in the order of decoding. Field names are those of H.264, 7.3.2.1.1. */
function sequenceSet(): Buffer {
  const bits = new BitWriter();
  bits.golomb(0); // seq_parameter_set_id
  bits.golomb(0); // log2_max_frame_num_minus4
  bits.golomb(2); // pic_order_cnt_type
  bits.golomb(0); // max_num_ref_frames
  bits.put(0, 1); // gaps_in_frame_num_value_allowed_flag
  bits.golomb(SIDE_MACROBLOCKS - 1); // pic_width_in_mbs_minus1
  bits.golomb(SIDE_MACROBLOCKS - 1); // pic_height_in_map_units_minus1
  bits.put(1, 1); // frame_mbs_only_flag
  bits.put(0b000, 3); // direct_8x8_inference, frame_cropping, vui_parameters_present
  return unit([0x67, 66, 0xc0, 10], bits);
}

/** 7.3.2.2: one slice group, CAVLC, no weighting, the deblocking defaults. */
function pictureSet(): Buffer {
  const bits = new BitWriter();
  bits.golomb(0); // pic_parameter_set_id
  bits.golomb(0); // seq_parameter_set_id
  bits.put(0b00, 2); // entropy_coding_mode, bottom_field_pic_order_in_frame_present
  for (let field = 0; field < 3; field += 1) bits.golomb(0); // num_slice_groups_minus1, two num_ref_idx
  bits.put(0b000, 3); // weighted_pred, weighted_bipred_idc
  for (let field = 0; field < 3; field += 1) bits.golomb(0); // pic_init_qp, pic_init_qs, chroma_qp_index_offset
  bits.put(0b000, 3); // deblocking_filter_control_present, constrained_intra_pred, redundant_pic_cnt_present
  return unit([0x68], bits);
}

function keyFrame(colour: Colour): Buffer {
  const bits = new BitWriter();
  bits.golomb(0); // first_mb_in_slice
  bits.golomb(7); // slice_type: I, and so are all others
  bits.golomb(0); // pic_parameter_set_id
  bits.put(0, 4); // frame_num
  bits.golomb(0); // idr_pic_id
  bits.put(0b00, 2); // no_output_of_prior_pics, long_term_reference
  bits.golomb(0); // slice_qp_delta
  for (let block = 0; block < SIDE_MACROBLOCKS ** 2; block += 1) {
    bits.golomb(I_PCM);
    bits.align(0);
    bits.bytes(colour.y, MACROBLOCK ** 2);
    bits.bytes(colour.cb, CHROMA_SAMPLES);
    bits.bytes(colour.cr, CHROMA_SAMPLES);
  }
  return unit([0x65], bits);
}

/** Header, payload and the closing bit; a 3 goes in wherever the payload would look like the start of another unit. */
function unit(header: number[], payload: BitWriter): Buffer {
  payload.put(1, 1);
  payload.align(0);
  const bytes = [...header];
  let zeros = 0;
  for (const byte of payload.written) {
    if (zeros >= 2 && byte <= 3) {
      bytes.push(3);
      zeros = 0;
    }
    bytes.push(byte);
    zeros = byte === 0 ? zeros + 1 : 0;
  }
  return Buffer.from(bytes);
}

class BitWriter {
  readonly written: number[] = [];
  private current = 0;
  private count = 0;

  put(value: number, width: number): void {
    for (let bit = width - 1; bit >= 0; bit -= 1) {
      this.current = (this.current << 1) | ((value >> bit) & 1);
      this.count += 1;
      if (this.count === 8) {
        this.written.push(this.current);
        this.current = 0;
        this.count = 0;
      }
    }
  }

  /** Unsigned Exp-Golomb: as many zeros as the number has bits after its first, then the number plus one. */
  golomb(value: number): void {
    const width = 32 - Math.clz32(value + 1);
    this.put(0, width - 1);
    this.put(value + 1, width);
  }

  align(filling: 0 | 1): void {
    while (this.count !== 0) this.put(filling, 1);
  }

  bytes(value: number, times: number): void {
    for (let index = 0; index < times; index += 1) this.written.push(value);
  }
}
