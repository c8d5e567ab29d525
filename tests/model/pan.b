	switch (t->back) {
	default: Uerror("bad return move");
	case  0: goto R999; /* nothing to undo */

		 /* PROC :init: */

	case 3: // STATE 1
		;
		;
		delproc(0, now._nr_pr-1);
		;
		goto R999;

	case 4: // STATE 2
		;
		;
		delproc(0, now._nr_pr-1);
		;
		goto R999;

	case 5: // STATE 3
		;
		;
		delproc(0, now._nr_pr-1);
		;
		goto R999;

	case 6: // STATE 4
		;
		;
		delproc(0, now._nr_pr-1);
		;
		goto R999;

	case 7: // STATE 6
		;
		p_restor(II);
		;
		;
		goto R999;

		 /* PROC Salvager */
	case 8: // STATE 42
		sv_restor();
		goto R999;

	case 9: // STATE 47
		;
		p_restor(II);
		;
		;
		goto R999;

		 /* PROC Drain */

	case 10: // STATE 1
		;
		((P1 *)_this)->block = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 12: // STATE 3
		;
		((P1 *)_this)->d_lane = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 14: // STATE 5
		;
		((P1 *)_this)->d_head = trpt->bup.oval;
		;
		goto R999;

	case 15: // STATE 7
		;
		((P1 *)_this)->r = trpt->bup.oval;
		;
		goto R999;

	case 16: // STATE 8
		;
	/* 0 */	((P1 *)_this)->r = trpt->bup.oval;
		;
		;
		goto R999;

	case 17: // STATE 27
		;
		now.scanned[ Index(((P1 *)_this)->d_lane, 2) ] = trpt->bup.ovals[2];
		now.announced_in_block = trpt->bup.ovals[1];
		now.defined_now = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 3);
		goto R999;

	case 18: // STATE 27
		;
		now.scanned[ Index(((P1 *)_this)->d_lane, 2) ] = trpt->bup.ovals[4];
		now.where[ Index(((P1 *)_this)->r, 2) ] = trpt->bup.ovals[3];
		now.at[ Index(((P1 *)_this)->r, 2) ] = trpt->bup.ovals[2];
		now.held = trpt->bup.ovals[1];
		((P1 *)_this)->last[ Index(((P1 *)_this)->d_lane, 2) ] = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 5);
		goto R999;

	case 19: // STATE 27
		;
		now.scanned[ Index(((P1 *)_this)->d_lane, 2) ] = trpt->bup.ovals[4];
		now.where[ Index(((P1 *)_this)->r, 2) ] = trpt->bup.ovals[3];
		now.at[ Index(((P1 *)_this)->r, 2) ] = trpt->bup.ovals[2];
		now.held = trpt->bup.ovals[1];
		((P1 *)_this)->last[ Index(((P1 *)_this)->d_lane, 2) ] = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 5);
		goto R999;

	case 20: // STATE 27
		;
		now.scanned[ Index(((P1 *)_this)->d_lane, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 21: // STATE 34
		;
		((P1 *)_this)->d_lane = trpt->bup.oval;
		;
		goto R999;

	case 22: // STATE 41
		;
		now.interval = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 24: // STATE 47
		;
		((P1 *)_this)->d_lane = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 26: // STATE 49
		;
		((P1 *)_this)->d_head = trpt->bup.oval;
		;
		goto R999;

	case 27: // STATE 51
		;
		((P1 *)_this)->r = trpt->bup.oval;
		;
		goto R999;

	case 28: // STATE 52
		;
	/* 0 */	((P1 *)_this)->r = trpt->bup.oval;
		;
		;
		goto R999;

	case 29: // STATE 71
		;
		now.scanned[ Index(((P1 *)_this)->d_lane, 2) ] = trpt->bup.ovals[2];
		now.announced_in_block = trpt->bup.ovals[1];
		now.defined_now = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 3);
		goto R999;

	case 30: // STATE 71
		;
		now.scanned[ Index(((P1 *)_this)->d_lane, 2) ] = trpt->bup.ovals[4];
		now.where[ Index(((P1 *)_this)->r, 2) ] = trpt->bup.ovals[3];
		now.at[ Index(((P1 *)_this)->r, 2) ] = trpt->bup.ovals[2];
		now.held = trpt->bup.ovals[1];
		((P1 *)_this)->last[ Index(((P1 *)_this)->d_lane, 2) ] = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 5);
		goto R999;

	case 31: // STATE 71
		;
		now.scanned[ Index(((P1 *)_this)->d_lane, 2) ] = trpt->bup.ovals[4];
		now.where[ Index(((P1 *)_this)->r, 2) ] = trpt->bup.ovals[3];
		now.at[ Index(((P1 *)_this)->r, 2) ] = trpt->bup.ovals[2];
		now.held = trpt->bup.ovals[1];
		((P1 *)_this)->last[ Index(((P1 *)_this)->d_lane, 2) ] = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 5);
		goto R999;

	case 32: // STATE 71
		;
		now.scanned[ Index(((P1 *)_this)->d_lane, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 33: // STATE 78
		;
		((P1 *)_this)->d_lane = trpt->bup.oval;
		;
		goto R999;

	case 34: // STATE 85
		;
		((P1 *)_this)->r = trpt->bup.oval;
		;
		goto R999;
;
		;
		;
		;
		
	case 37: // STATE 103
		;
		((P1 *)_this)->r = trpt->bup.ovals[4];
		now.pending = trpt->bup.ovals[3];
		now.held = trpt->bup.ovals[2];
		now.announced_in_block = trpt->bup.ovals[1];
		now.defined_now = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 5);
		goto R999;

	case 38: // STATE 103
		;
		((P1 *)_this)->r = trpt->bup.ovals[2];
		now.pending = trpt->bup.ovals[1];
		now.held = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 3);
		goto R999;

	case 39: // STATE 103
		;
		((P1 *)_this)->r = trpt->bup.ovals[2];
		now.pending = trpt->bup.ovals[1];
		now.held = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 3);
		goto R999;

	case 40: // STATE 103
		;
		((P1 *)_this)->r = trpt->bup.oval;
		;
		goto R999;

	case 41: // STATE 103
		;
		((P1 *)_this)->r = trpt->bup.oval;
		;
		goto R999;

	case 42: // STATE 111
		;
		((P1 *)_this)->d_lane = trpt->bup.oval;
		;
		goto R999;

	case 43: // STATE 114
		;
		((P1 *)_this)->r = trpt->bup.ovals[1];
		now.needed[ Index(((P1 *)_this)->d_lane, 2) ] = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 2);
		goto R999;
;
		;
		
	case 45: // STATE 122
		;
		((P1 *)_this)->r = trpt->bup.ovals[1];
		now.needed[ Index(((P1 *)_this)->d_lane, 2) ] = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 2);
		goto R999;

	case 46: // STATE 122
		;
		((P1 *)_this)->r = trpt->bup.oval;
		;
		goto R999;

	case 47: // STATE 122
		;
		((P1 *)_this)->r = trpt->bup.oval;
		;
		goto R999;

	case 48: // STATE 128
		;
		((P1 *)_this)->d_lane = trpt->bup.oval;
		;
		goto R999;

	case 49: // STATE 135
		;
		now.in_file = trpt->bup.oval;
		;
		goto R999;

	case 50: // STATE 145
		;
		((P1 *)_this)->failed = trpt->bup.ovals[4];
		now.positions[1] = trpt->bup.ovals[3];
		now.positions[0] = trpt->bup.ovals[2];
		now.announced_in_block = trpt->bup.ovals[1];
		now.defined_in_file = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 5);
		goto R999;

	case 51: // STATE 145
		;
		((P1 *)_this)->failed = trpt->bup.ovals[3];
		now.positions[1] = trpt->bup.ovals[2];
		now.positions[0] = trpt->bup.ovals[1];
		now.announced_in_block = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 4);
		goto R999;

	case 52: // STATE 145
		;
		((P1 *)_this)->failed = trpt->bup.ovals[3];
		now.positions[1] = trpt->bup.ovals[2];
		now.positions[0] = trpt->bup.ovals[1];
		now.announced_in_block = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 4);
		goto R999;

	case 53: // STATE 149
		;
		((P1 *)_this)->failed = trpt->bup.ovals[1];
		now.lost = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 2);
		goto R999;

	case 54: // STATE 153
		;
		now.pending = trpt->bup.oval;
		;
		goto R999;

	case 55: // STATE 154
		;
	/* 0 */	((P1 *)_this)->failed = trpt->bup.oval;
		;
		;
		goto R999;

	case 56: // STATE 155
		;
		now.chunk = trpt->bup.oval;
		;
		goto R999;

	case 57: // STATE 163
		;
		now.announced_in_block = trpt->bup.ovals[2];
		now.defined_now = trpt->bup.ovals[1];
		now.defined_before = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 3);
		goto R999;

	case 58: // STATE 163
		;
		now.announced_in_block = trpt->bup.ovals[2];
		now.defined_now = trpt->bup.ovals[1];
		now.defined_before = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 3);
		goto R999;

	case 59: // STATE 163
		;
		now.announced_in_block = trpt->bup.ovals[1];
		now.defined_now = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 2);
		goto R999;
;
		;
		
	case 61: // STATE 167
		;
		now.announced_in_block = trpt->bup.ovals[1];
		now.defined_now = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 2);
		goto R999;
;
		
	case 62: // STATE 171
		goto R999;
;
		
	case 63: // STATE 169
		goto R999;
;
		
	case 64: // STATE 176
		goto R999;
;
		
	case 65: // STATE 174
		goto R999;

	case 66: // STATE 178
		;
		now.epoch = trpt->bup.oval;
		;
		goto R999;

	case 67: // STATE 184
		;
		now.tail[0] = trpt->bup.oval;
		;
		goto R999;

	case 68: // STATE 185
		;
		now.tail[1] = trpt->bup.oval;
		;
		goto R999;

	case 69: // STATE 187
		;
		((P1 *)_this)->d_lane = trpt->bup.oval;
		;
		goto R999;

	case 70: // STATE 190
		;
		((P1 *)_this)->r = trpt->bup.ovals[1];
		now.needed[ Index(((P1 *)_this)->d_lane, 2) ] = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 2);
		goto R999;
;
		;
		
	case 72: // STATE 198
		;
		((P1 *)_this)->r = trpt->bup.ovals[1];
		now.needed[ Index(((P1 *)_this)->d_lane, 2) ] = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 2);
		goto R999;

	case 73: // STATE 198
		;
		((P1 *)_this)->r = trpt->bup.oval;
		;
		goto R999;

	case 74: // STATE 198
		;
		((P1 *)_this)->r = trpt->bup.oval;
		;
		goto R999;

	case 75: // STATE 204
		;
		((P1 *)_this)->d_lane = trpt->bup.oval;
		;
		goto R999;

	case 76: // STATE 211
		;
		now.in_file = trpt->bup.oval;
		;
		goto R999;

	case 77: // STATE 221
		;
		((P1 *)_this)->failed = trpt->bup.ovals[4];
		now.positions[1] = trpt->bup.ovals[3];
		now.positions[0] = trpt->bup.ovals[2];
		now.announced_in_block = trpt->bup.ovals[1];
		now.defined_in_file = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 5);
		goto R999;

	case 78: // STATE 221
		;
		((P1 *)_this)->failed = trpt->bup.ovals[3];
		now.positions[1] = trpt->bup.ovals[2];
		now.positions[0] = trpt->bup.ovals[1];
		now.announced_in_block = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 4);
		goto R999;

	case 79: // STATE 221
		;
		((P1 *)_this)->failed = trpt->bup.ovals[3];
		now.positions[1] = trpt->bup.ovals[2];
		now.positions[0] = trpt->bup.ovals[1];
		now.announced_in_block = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 4);
		goto R999;

	case 80: // STATE 225
		;
		((P1 *)_this)->failed = trpt->bup.ovals[1];
		now.lost = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 2);
		goto R999;

	case 81: // STATE 229
		;
		now.pending = trpt->bup.oval;
		;
		goto R999;

	case 82: // STATE 230
		;
	/* 0 */	((P1 *)_this)->failed = trpt->bup.oval;
		;
		;
		goto R999;

	case 83: // STATE 231
		;
		now.chunk = trpt->bup.oval;
		;
		goto R999;

	case 84: // STATE 239
		;
		now.announced_in_block = trpt->bup.ovals[2];
		now.defined_now = trpt->bup.ovals[1];
		now.defined_before = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 3);
		goto R999;

	case 85: // STATE 239
		;
		now.announced_in_block = trpt->bup.ovals[2];
		now.defined_now = trpt->bup.ovals[1];
		now.defined_before = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 3);
		goto R999;

	case 86: // STATE 239
		;
		now.announced_in_block = trpt->bup.ovals[1];
		now.defined_now = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 2);
		goto R999;
;
		;
		
	case 88: // STATE 243
		;
		now.announced_in_block = trpt->bup.ovals[1];
		now.defined_now = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 2);
		goto R999;
;
		
	case 89: // STATE 247
		goto R999;
;
		
	case 90: // STATE 245
		goto R999;
;
		
	case 91: // STATE 252
		goto R999;
;
		
	case 92: // STATE 250
		goto R999;

	case 93: // STATE 254
		;
		now.epoch = trpt->bup.oval;
		;
		goto R999;

	case 94: // STATE 260
		;
		now.tail[0] = trpt->bup.oval;
		;
		goto R999;

	case 95: // STATE 261
		;
		now.tail[1] = trpt->bup.oval;
		;
		goto R999;

	case 96: // STATE 265
		;
		((P1 *)_this)->block = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 98: // STATE 272
		;
		((P1 *)_this)->d_lane = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 100: // STATE 274
		;
		((P1 *)_this)->d_head = trpt->bup.oval;
		;
		goto R999;

	case 101: // STATE 276
		;
		((P1 *)_this)->r = trpt->bup.oval;
		;
		goto R999;

	case 102: // STATE 277
		;
	/* 0 */	((P1 *)_this)->r = trpt->bup.oval;
		;
		;
		goto R999;

	case 103: // STATE 296
		;
		now.scanned[ Index(((P1 *)_this)->d_lane, 2) ] = trpt->bup.ovals[2];
		now.announced_in_block = trpt->bup.ovals[1];
		now.defined_now = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 3);
		goto R999;

	case 104: // STATE 296
		;
		now.scanned[ Index(((P1 *)_this)->d_lane, 2) ] = trpt->bup.ovals[4];
		now.where[ Index(((P1 *)_this)->r, 2) ] = trpt->bup.ovals[3];
		now.at[ Index(((P1 *)_this)->r, 2) ] = trpt->bup.ovals[2];
		now.held = trpt->bup.ovals[1];
		((P1 *)_this)->last[ Index(((P1 *)_this)->d_lane, 2) ] = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 5);
		goto R999;

	case 105: // STATE 296
		;
		now.scanned[ Index(((P1 *)_this)->d_lane, 2) ] = trpt->bup.ovals[4];
		now.where[ Index(((P1 *)_this)->r, 2) ] = trpt->bup.ovals[3];
		now.at[ Index(((P1 *)_this)->r, 2) ] = trpt->bup.ovals[2];
		now.held = trpt->bup.ovals[1];
		((P1 *)_this)->last[ Index(((P1 *)_this)->d_lane, 2) ] = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 5);
		goto R999;

	case 106: // STATE 296
		;
		now.scanned[ Index(((P1 *)_this)->d_lane, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 107: // STATE 303
		;
		((P1 *)_this)->d_lane = trpt->bup.oval;
		;
		goto R999;

	case 108: // STATE 310
		;
		((P1 *)_this)->r = trpt->bup.oval;
		;
		goto R999;
;
		;
		;
		;
		
	case 111: // STATE 328
		;
		((P1 *)_this)->r = trpt->bup.ovals[4];
		now.pending = trpt->bup.ovals[3];
		now.held = trpt->bup.ovals[2];
		now.announced_in_block = trpt->bup.ovals[1];
		now.defined_now = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 5);
		goto R999;

	case 112: // STATE 328
		;
		((P1 *)_this)->r = trpt->bup.ovals[2];
		now.pending = trpt->bup.ovals[1];
		now.held = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 3);
		goto R999;

	case 113: // STATE 328
		;
		((P1 *)_this)->r = trpt->bup.ovals[2];
		now.pending = trpt->bup.ovals[1];
		now.held = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 3);
		goto R999;

	case 114: // STATE 328
		;
		((P1 *)_this)->r = trpt->bup.oval;
		;
		goto R999;

	case 115: // STATE 328
		;
		((P1 *)_this)->r = trpt->bup.oval;
		;
		goto R999;

	case 116: // STATE 336
		;
		((P1 *)_this)->d_lane = trpt->bup.oval;
		;
		goto R999;

	case 117: // STATE 339
		;
		((P1 *)_this)->r = trpt->bup.ovals[1];
		now.needed[ Index(((P1 *)_this)->d_lane, 2) ] = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 2);
		goto R999;
;
		;
		
	case 119: // STATE 347
		;
		((P1 *)_this)->r = trpt->bup.ovals[1];
		now.needed[ Index(((P1 *)_this)->d_lane, 2) ] = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 2);
		goto R999;

	case 120: // STATE 347
		;
		((P1 *)_this)->r = trpt->bup.oval;
		;
		goto R999;

	case 121: // STATE 347
		;
		((P1 *)_this)->r = trpt->bup.oval;
		;
		goto R999;

	case 122: // STATE 353
		;
		((P1 *)_this)->d_lane = trpt->bup.oval;
		;
		goto R999;

	case 123: // STATE 360
		;
		now.in_file = trpt->bup.oval;
		;
		goto R999;

	case 124: // STATE 370
		;
		((P1 *)_this)->failed = trpt->bup.ovals[4];
		now.positions[1] = trpt->bup.ovals[3];
		now.positions[0] = trpt->bup.ovals[2];
		now.announced_in_block = trpt->bup.ovals[1];
		now.defined_in_file = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 5);
		goto R999;

	case 125: // STATE 370
		;
		((P1 *)_this)->failed = trpt->bup.ovals[3];
		now.positions[1] = trpt->bup.ovals[2];
		now.positions[0] = trpt->bup.ovals[1];
		now.announced_in_block = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 4);
		goto R999;

	case 126: // STATE 370
		;
		((P1 *)_this)->failed = trpt->bup.ovals[3];
		now.positions[1] = trpt->bup.ovals[2];
		now.positions[0] = trpt->bup.ovals[1];
		now.announced_in_block = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 4);
		goto R999;

	case 127: // STATE 374
		;
		((P1 *)_this)->failed = trpt->bup.ovals[1];
		now.lost = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 2);
		goto R999;

	case 128: // STATE 378
		;
		now.pending = trpt->bup.oval;
		;
		goto R999;

	case 129: // STATE 379
		;
	/* 0 */	((P1 *)_this)->failed = trpt->bup.oval;
		;
		;
		goto R999;

	case 130: // STATE 380
		;
		now.chunk = trpt->bup.oval;
		;
		goto R999;

	case 131: // STATE 388
		;
		now.announced_in_block = trpt->bup.ovals[2];
		now.defined_now = trpt->bup.ovals[1];
		now.defined_before = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 3);
		goto R999;

	case 132: // STATE 388
		;
		now.announced_in_block = trpt->bup.ovals[2];
		now.defined_now = trpt->bup.ovals[1];
		now.defined_before = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 3);
		goto R999;

	case 133: // STATE 388
		;
		now.announced_in_block = trpt->bup.ovals[1];
		now.defined_now = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 2);
		goto R999;
;
		;
		
	case 135: // STATE 392
		;
		now.announced_in_block = trpt->bup.ovals[1];
		now.defined_now = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 2);
		goto R999;
;
		
	case 136: // STATE 396
		goto R999;
;
		
	case 137: // STATE 394
		goto R999;
;
		
	case 138: // STATE 401
		goto R999;
;
		
	case 139: // STATE 399
		goto R999;

	case 140: // STATE 403
		;
		now.epoch = trpt->bup.oval;
		;
		goto R999;

	case 141: // STATE 409
		;
		now.tail[0] = trpt->bup.oval;
		;
		goto R999;

	case 142: // STATE 410
		;
		now.tail[1] = trpt->bup.oval;
		;
		goto R999;

	case 143: // STATE 412
		;
		ended = trpt->bup.oval;
		;
		goto R999;

	case 144: // STATE 413
		;
		p_restor(II);
		;
		;
		goto R999;

		 /* PROC Writer */

	case 145: // STATE 1
		;
		((P0 *)_this)->n = trpt->bup.oval;
		;
		goto R999;
;
		;
		
	case 147: // STATE 4
		;
		now.under_way[ Index((((P0 *)_this)->first/1), 2) ] = trpt->bup.ovals[1];
		((P0 *)_this)->seen = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 2);
		goto R999;

	case 148: // STATE 6
		;
	/* 0 */	((P0 *)_this)->seen = trpt->bup.oval;
		;
		;
		goto R999;

	case 149: // STATE 10
		;
		((P0 *)_this)->i = trpt->bup.ovals[1];
		((P0 *)_this)->mine = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 2);
		goto R999;
;
		;
		
	case 151: // STATE 13
		;
		((P0 *)_this)->i = trpt->bup.ovals[1];
		((P0 *)_this)->l = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 2);
		goto R999;

	case 152: // STATE 14
		;
	/* 0 */	((P0 *)_this)->l = trpt->bup.oval;
		;
		;
		goto R999;
;
		
	case 153: // STATE 15
		goto R999;

	case 154: // STATE 20
		;
		((P0 *)_this)->mine = trpt->bup.ovals[2];
		now.writers_in[ Index(((P0 *)_this)->l, 2) ] = trpt->bup.ovals[1];
		now.lease[ Index(((P0 *)_this)->l, 2) ] = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 3);
		goto R999;

	case 155: // STATE 39
		;
		((P0 *)_this)->l = trpt->bup.ovals[4];
		((P0 *)_this)->i = trpt->bup.ovals[3];
		((P0 *)_this)->mine = trpt->bup.ovals[2];
		now.lease[ Index(((P0 *)_this)->mine, 2) ] = trpt->bup.ovals[1];
		now.writers_in[ Index(((P0 *)_this)->mine, 2) ] = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 5);
		goto R999;

	case 156: // STATE 39
		;
		((P0 *)_this)->l = trpt->bup.ovals[1];
		((P0 *)_this)->i = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 2);
		goto R999;

	case 157: // STATE 39
		;
		((P0 *)_this)->l = trpt->bup.ovals[1];
		((P0 *)_this)->i = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 2);
		goto R999;

	case 158: // STATE 43
		;
		((P0 *)_this)->n = trpt->bup.ovals[1];
	/* 0 */	((P0 *)_this)->mine = trpt->bup.ovals[0];
		;
		;
		ungrab_ints(trpt->bup.ovals, 2);
		goto R999;

	case 159: // STATE 49
		;
		now.slots[ Index(((((P0 *)_this)->mine*4)+(now.head[ Index(((P0 *)_this)->mine, 2) ]%4)), 8) ] = trpt->bup.oval;
		;
		goto R999;

	case 160: // STATE 50
		;
		now.head[ Index(((P0 *)_this)->mine, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 161: // STATE 52
		;
		now.lease[ Index(((P0 *)_this)->mine, 2) ] = trpt->bup.ovals[1];
		now.writers_in[ Index(((P0 *)_this)->mine, 2) ] = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 2);
		goto R999;

	case 162: // STATE 55
		;
		now.announced = trpt->bup.oval;
		;
		goto R999;

	case 163: // STATE 59
		;
		((P0 *)_this)->i = trpt->bup.ovals[1];
		((P0 *)_this)->mine = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 2);
		goto R999;
;
		;
		
	case 165: // STATE 62
		;
		((P0 *)_this)->i = trpt->bup.ovals[1];
		((P0 *)_this)->l = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 2);
		goto R999;

	case 166: // STATE 63
		;
	/* 0 */	((P0 *)_this)->l = trpt->bup.oval;
		;
		;
		goto R999;
;
		
	case 167: // STATE 64
		goto R999;

	case 168: // STATE 69
		;
		((P0 *)_this)->mine = trpt->bup.ovals[2];
		now.writers_in[ Index(((P0 *)_this)->l, 2) ] = trpt->bup.ovals[1];
		now.lease[ Index(((P0 *)_this)->l, 2) ] = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 3);
		goto R999;

	case 169: // STATE 88
		;
		((P0 *)_this)->l = trpt->bup.ovals[4];
		((P0 *)_this)->i = trpt->bup.ovals[3];
		((P0 *)_this)->mine = trpt->bup.ovals[2];
		now.lease[ Index(((P0 *)_this)->mine, 2) ] = trpt->bup.ovals[1];
		now.writers_in[ Index(((P0 *)_this)->mine, 2) ] = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 5);
		goto R999;

	case 170: // STATE 88
		;
		((P0 *)_this)->l = trpt->bup.ovals[1];
		((P0 *)_this)->i = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 2);
		goto R999;

	case 171: // STATE 88
		;
		((P0 *)_this)->l = trpt->bup.ovals[1];
		((P0 *)_this)->i = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 2);
		goto R999;
;
		;
		
	case 173: // STATE 92
		;
		now.born[ Index((((P0 *)_this)->first+((P0 *)_this)->n), 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 174: // STATE 93
		;
		now.slots[ Index(((((P0 *)_this)->mine*4)+(now.head[ Index(((P0 *)_this)->mine, 2) ]%4)), 8) ] = trpt->bup.oval;
		;
		goto R999;

	case 175: // STATE 94
		;
		now.head[ Index(((P0 *)_this)->mine, 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 176: // STATE 95
		;
		now.acknowledged = trpt->bup.oval;
		;
		goto R999;

	case 177: // STATE 104
		;
		((P0 *)_this)->n = trpt->bup.ovals[2];
		now.lease[ Index(((P0 *)_this)->mine, 2) ] = trpt->bup.ovals[1];
		now.writers_in[ Index(((P0 *)_this)->mine, 2) ] = trpt->bup.ovals[0];
		;
		ungrab_ints(trpt->bup.ovals, 3);
		goto R999;

	case 178: // STATE 104
		;
		((P0 *)_this)->n = trpt->bup.oval;
		;
		goto R999;

	case 179: // STATE 104
		;
		((P0 *)_this)->n = trpt->bup.oval;
		;
		goto R999;

	case 180: // STATE 105
		;
		now.under_way[ Index((((P0 *)_this)->first/1), 2) ] = trpt->bup.oval;
		;
		goto R999;

	case 181: // STATE 111
		;
		now.live_writers = trpt->bup.oval;
		;
		goto R999;

	case 182: // STATE 112
		;
		p_restor(II);
		;
		;
		goto R999;
	}

