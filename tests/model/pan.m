#define rand	pan_rand
#define pthread_equal(a,b)	((a)==(b))
#if defined(HAS_CODE) && defined(VERBOSE)
	#ifdef BFS_PAR
		bfs_printf("Pr: %d Tr: %d\n", II, t->forw);
	#else
		cpu_printf("Pr: %d Tr: %d\n", II, t->forw);
	#endif
#endif
	switch (t->forw) {
	default: Uerror("bad forward move");
	case 0:	/* if without executable clauses */
		continue;
	case 1: /* generic 'goto' or 'skip' */
		IfNotBlocked
		_m = 3; goto P999;
	case 2: /* generic 'else' */
		IfNotBlocked
		if (trpt->o_pm&1) continue;
		_m = 3; goto P999;

		 /* PROC :init: */
	case 3: // STATE 1 - lanes.pml:297 - [(run Writer(0))] (0:0:0 - 1)
		IfNotBlocked
		reached[3][1] = 1;
		if (!(addproc(II, 1, 0, 0)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 4: // STATE 2 - lanes.pml:297 - [(run Writer(1))] (0:0:0 - 1)
		IfNotBlocked
		reached[3][2] = 1;
		if (!(addproc(II, 1, 0, 1)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 5: // STATE 3 - lanes.pml:297 - [(run Drain())] (0:0:0 - 1)
		IfNotBlocked
		reached[3][3] = 1;
		if (!(addproc(II, 1, 1, 0)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 6: // STATE 4 - lanes.pml:297 - [(run Salvager())] (0:0:0 - 1)
		IfNotBlocked
		reached[3][4] = 1;
		if (!(addproc(II, 1, 2, 0)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 7: // STATE 6 - lanes.pml:298 - [-end-] (0:0:0 - 1)
		IfNotBlocked
		reached[3][6] = 1;
		if (!delproc(1, II)) continue;
		_m = 3; goto P999; /* 0 */

		 /* PROC Salvager */
	case 8: // STATE 42 - lanes.pml:254 - [D_STEP254]
		IfNotBlocked

		reached[2][42] = 1;
		reached[2][t->st] = 1;
		reached[2][tt] = 1;

		if (TstOnly) return 1;

		sv_save();
		S_525_0: /* 2 */
		((P2 *)_this)->l = 0;
#ifdef VAR_RANGES
		logval("Salvager:l", ((int)((P2 *)_this)->l));
#endif
		;
S_526_0: /* 2 */
		((P2 *)_this)->found = now.in_file;
#ifdef VAR_RANGES
		logval("Salvager:found", ((P2 *)_this)->found);
#endif
		;
S_527_0: /* 2 */
		((P2 *)_this)->definition = (((int)now.defined_in_file)!=0);
#ifdef VAR_RANGES
		logval("Salvager:definition", ((int)((P2 *)_this)->definition));
#endif
		;
S_556_0: /* 2 */
S_555_0: /* 2 */
S_528_0: /* 2 */
		if (!((((int)((P2 *)_this)->l)<2)))
			goto S_555_1;
S_529_0: /* 2 */
		((P2 *)_this)->p = ((int)now.positions[ Index(((int)((P2 *)_this)->l), 2) ]);
#ifdef VAR_RANGES
		logval("Salvager:p", ((int)((P2 *)_this)->p));
#endif
		;
S_534_0: /* 2 */
S_530_0: /* 2 */
		if (!((((int)now.tail[ Index(((int)((P2 *)_this)->l), 2) ])>((int)((P2 *)_this)->p))))
			goto S_534_1;
S_531_0: /* 2 */
		((P2 *)_this)->p = ((int)now.tail[ Index(((int)((P2 *)_this)->l), 2) ]);
#ifdef VAR_RANGES
		logval("Salvager:p", ((int)((P2 *)_this)->p));
#endif
		;
		goto S_535_0;
S_534_1: /* 3 */
S_532_0: /* 2 */
		/* else */;
S_533_0: /* 2 */
		if (!(1))
			Uerror("block in d_step seq");
		goto S_535_0;
S_534_2: /* 3 */
		Uerror("blocking sel in d_step (nr.0, near line 261)");
S_535_0: /* 2 */
S_550_0: /* 2 */
S_549_0: /* 2 */
S_536_0: /* 2 */
		if (!((((int)((P2 *)_this)->p)<((int)now.head[ Index(((int)((P2 *)_this)->l), 2) ]))))
			goto S_549_1;
S_537_0: /* 2 */
		((P2 *)_this)->s = ((int)now.slots[ Index(((((int)((P2 *)_this)->l)*4)+(((int)((P2 *)_this)->p)%4)), 8) ]);
#ifdef VAR_RANGES
		logval("Salvager:s", ((int)((P2 *)_this)->s));
#endif
		;
S_544_0: /* 2 */
S_538_0: /* 2 */
		if (!((((int)((P2 *)_this)->s)==15)))
			goto S_544_1;
S_539_0: /* 2 */
		((P2 *)_this)->definition = 1;
#ifdef VAR_RANGES
		logval("Salvager:definition", ((int)((P2 *)_this)->definition));
#endif
		;
		goto S_545_0;
S_544_1: /* 3 */
S_540_0: /* 2 */
		/* else */;
S_541_0: /* 2 */
		spin_assert( !((((P2 *)_this)->found&(1<<((int)((P2 *)_this)->s)))), " !((found&(1<<s)))", II, tt, t);
S_542_0: /* 2 */
		((P2 *)_this)->found = (((P2 *)_this)->found|(1<<((int)((P2 *)_this)->s)));
#ifdef VAR_RANGES
		logval("Salvager:found", ((P2 *)_this)->found);
#endif
		;
S_543_0: /* 2 */
		((P2 *)_this)->from_ring = (((P2 *)_this)->from_ring|(1<<((int)((P2 *)_this)->s)));
#ifdef VAR_RANGES
		logval("Salvager:from_ring", ((P2 *)_this)->from_ring);
#endif
		;
		goto S_545_0;
S_544_2: /* 3 */
		Uerror("blocking sel in d_step (nr.1, near line 265)");
S_545_0: /* 2 */
S_546_0: /* 2 */
		((P2 *)_this)->p = (((int)((P2 *)_this)->p)+1);
#ifdef VAR_RANGES
		logval("Salvager:p", ((int)((P2 *)_this)->p));
#endif
		;
		goto S_550_0; /* ';' */
S_549_1: /* 3 */
S_547_0: /* 2 */
		/* else */;
S_548_0: /* 2 */
		goto S_552_0;	/* 'goto' */
S_549_2: /* 3 */
		Uerror("blocking sel in d_step (nr.2, near line 262)");
S_551_0: /* 2 */
		goto S_552_0;	/* 'break' */
S_552_0: /* 2 */
		((P2 *)_this)->l = (((int)((P2 *)_this)->l)+1);
#ifdef VAR_RANGES
		logval("Salvager:l", ((int)((P2 *)_this)->l));
#endif
		;
		goto S_556_0; /* ';' */
S_555_1: /* 3 */
S_553_0: /* 2 */
		/* else */;
S_554_0: /* 2 */
		goto S_558_0;	/* 'goto' */
S_555_2: /* 3 */
		Uerror("blocking sel in d_step (nr.3, near line 258)");
S_557_0: /* 2 */
		goto S_558_0;	/* 'break' */
S_558_0: /* 2 */
		spin_assert(((now.acknowledged& ~(((((P2 *)_this)->found|now.lost)|(0*now.pending))))==0), "((acknowledged& ~(((found|lost)|(0*pending))))==0)", II, tt, t);
S_559_0: /* 2 */
		spin_assert(((((P2 *)_this)->from_ring==0)||((int)((P2 *)_this)->definition)), "((from_ring==0)||definition)", II, tt, t);
S_560_0: /* 2 */
		((P2 *)_this)->l = 0;
#ifdef VAR_RANGES
		logval("Salvager:l", ((int)((P2 *)_this)->l));
#endif
		;
S_561_0: /* 2 */
		((P2 *)_this)->p = 0;
#ifdef VAR_RANGES
		logval("Salvager:p", ((int)((P2 *)_this)->p));
#endif
		;
S_562_0: /* 2 */
		((P2 *)_this)->s = 0;
#ifdef VAR_RANGES
		logval("Salvager:s", ((int)((P2 *)_this)->s));
#endif
		;
S_563_0: /* 2 */
		((P2 *)_this)->found = 0;
#ifdef VAR_RANGES
		logval("Salvager:found", ((P2 *)_this)->found);
#endif
		;
S_564_0: /* 2 */
		((P2 *)_this)->from_ring = 0;
#ifdef VAR_RANGES
		logval("Salvager:from_ring", ((P2 *)_this)->from_ring);
#endif
		;
S_565_0: /* 2 */
		((P2 *)_this)->definition = 0;
#ifdef VAR_RANGES
		logval("Salvager:definition", ((int)((P2 *)_this)->definition));
#endif
		;
		goto S_569_0;
S_569_0: /* 1 */

#if defined(C_States) && (HAS_TRACK==1)
		c_update((uchar *) &(now.c_state[0]));
#endif
		_m = 3; goto P999;

	case 9: // STATE 47 - lanes.pml:294 - [-end-] (0:0:0 - 1)
		IfNotBlocked
		reached[2][47] = 1;
		if (!delproc(1, II)) continue;
		_m = 3; goto P999; /* 0 */

		 /* PROC Drain */
	case 10: // STATE 1 - lanes.pml:229 - [block = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[1][1] = 1;
		(trpt+1)->bup.oval = ((int)((P1 *)_this)->block);
		((P1 *)_this)->block = 0;
#ifdef VAR_RANGES
		logval("Drain:block", ((int)((P1 *)_this)->block));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 11: // STATE 2 - lanes.pml:231 - [((block<3))] (0:0:0 - 1)
		IfNotBlocked
		reached[1][2] = 1;
		if (!((((int)((P1 *)_this)->block)<3)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 12: // STATE 3 - lanes.pml:121 - [d_lane = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[1][3] = 1;
		(trpt+1)->bup.oval = ((int)((P1 *)_this)->d_lane);
		((P1 *)_this)->d_lane = 0;
#ifdef VAR_RANGES
		logval("Drain:d_lane", ((int)((P1 *)_this)->d_lane));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 13: // STATE 4 - lanes.pml:123 - [((d_lane<2))] (0:0:0 - 1)
		IfNotBlocked
		reached[1][4] = 1;
		if (!((((int)((P1 *)_this)->d_lane)<2)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 14: // STATE 5 - lanes.pml:124 - [d_head = head[d_lane]] (0:0:1 - 1)
		IfNotBlocked
		reached[1][5] = 1;
		(trpt+1)->bup.oval = ((int)((P1 *)_this)->d_head);
		((P1 *)_this)->d_head = ((int)now.head[ Index(((int)((P1 *)_this)->d_lane), 2) ]);
#ifdef VAR_RANGES
		logval("Drain:d_head", ((int)((P1 *)_this)->d_head));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 15: // STATE 6 - lanes.pml:127 - [((scanned[d_lane]<d_head))] (25:0:1 - 1)
		IfNotBlocked
		reached[1][6] = 1;
		if (!((((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ])<((int)((P1 *)_this)->d_head))))
			continue;
		/* merge: r = slots[((d_lane*4)+(scanned[d_lane]%4))](0, 7, 25) */
		reached[1][7] = 1;
		(trpt+1)->bup.oval = ((int)((P1 *)_this)->r);
		((P1 *)_this)->r = ((int)now.slots[ Index(((((int)((P1 *)_this)->d_lane)*4)+(((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ])%4)), 8) ]);
#ifdef VAR_RANGES
		logval("Drain:r", ((int)((P1 *)_this)->r));
#endif
		;
		_m = 3; goto P999; /* 1 */
	case 16: // STATE 8 - lanes.pml:130 - [((r==15))] (0:0:1 - 1)
		IfNotBlocked
		reached[1][8] = 1;
		if (!((((int)((P1 *)_this)->r)==15)))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: r */  (trpt+1)->bup.oval = ((P1 *)_this)->r;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P1 *)_this)->r = 0;
		_m = 3; goto P999; /* 0 */
	case 17: // STATE 9 - lanes.pml:130 - [(!(defined_now))] (30:0:3 - 1)
		IfNotBlocked
		reached[1][9] = 1;
		if (!( !(((int)now.defined_now))))
			continue;
		/* merge: defined_now = 1(30, 10, 30) */
		reached[1][10] = 1;
		(trpt+1)->bup.ovals = grab_ints(3);
		(trpt+1)->bup.ovals[0] = ((int)now.defined_now);
		now.defined_now = 1;
#ifdef VAR_RANGES
		logval("defined_now", ((int)now.defined_now));
#endif
		;
		/* merge: announced_in_block = 1(30, 11, 30) */
		reached[1][11] = 1;
		(trpt+1)->bup.ovals[1] = ((int)now.announced_in_block);
		now.announced_in_block = 1;
#ifdef VAR_RANGES
		logval("announced_in_block", ((int)now.announced_in_block));
#endif
		;
		/* merge: .(goto)(30, 14, 30) */
		reached[1][14] = 1;
		;
		/* merge: .(goto)(30, 26, 30) */
		reached[1][26] = 1;
		;
		/* merge: scanned[d_lane] = (scanned[d_lane]+1)(30, 27, 30) */
		reached[1][27] = 1;
		(trpt+1)->bup.ovals[2] = ((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ]);
		now.scanned[ Index(((P1 *)_this)->d_lane, 2) ] = (((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ])+1);
#ifdef VAR_RANGES
		logval("scanned[Drain:d_lane]", ((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ]));
#endif
		;
		/* merge: .(goto)(0, 31, 30) */
		reached[1][31] = 1;
		;
		_m = 3; goto P999; /* 6 */
	case 18: // STATE 16 - lanes.pml:133 - [((last[d_lane]<255))] (30:0:5 - 1)
		IfNotBlocked
		reached[1][16] = 1;
		if (!((((int)((P1 *)_this)->last[ Index(((int)((P1 *)_this)->d_lane), 2) ])<255)))
			continue;
		/* merge: assert((born[last[d_lane]]<=born[r]))(30, 17, 30) */
		reached[1][17] = 1;
		spin_assert((((int)now.born[ Index(((int)((P1 *)_this)->last[ Index(((int)((P1 *)_this)->d_lane), 2) ]), 2) ])<=((int)now.born[ Index(((int)((P1 *)_this)->r), 2) ])), "(born[last[d_lane]]<=born[r])", II, tt, t);
		/* merge: .(goto)(30, 20, 30) */
		reached[1][20] = 1;
		;
		/* merge: last[d_lane] = r(30, 21, 30) */
		reached[1][21] = 1;
		(trpt+1)->bup.ovals = grab_ints(5);
		(trpt+1)->bup.ovals[0] = ((int)((P1 *)_this)->last[ Index(((int)((P1 *)_this)->d_lane), 2) ]);
		((P1 *)_this)->last[ Index(((P1 *)_this)->d_lane, 2) ] = ((int)((P1 *)_this)->r);
#ifdef VAR_RANGES
		logval("Drain:last[Drain:d_lane]", ((int)((P1 *)_this)->last[ Index(((int)((P1 *)_this)->d_lane), 2) ]));
#endif
		;
		/* merge: held = (held|(1<<r))(30, 22, 30) */
		reached[1][22] = 1;
		(trpt+1)->bup.ovals[1] = now.held;
		now.held = (now.held|(1<<((int)((P1 *)_this)->r)));
#ifdef VAR_RANGES
		logval("held", now.held);
#endif
		;
		/* merge: at[r] = scanned[d_lane](30, 23, 30) */
		reached[1][23] = 1;
		(trpt+1)->bup.ovals[2] = ((int)now.at[ Index(((int)((P1 *)_this)->r), 2) ]);
		now.at[ Index(((P1 *)_this)->r, 2) ] = ((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ]);
#ifdef VAR_RANGES
		logval("at[Drain:r]", ((int)now.at[ Index(((int)((P1 *)_this)->r), 2) ]));
#endif
		;
		/* merge: where[r] = d_lane(30, 24, 30) */
		reached[1][24] = 1;
		(trpt+1)->bup.ovals[3] = ((int)now.where[ Index(((int)((P1 *)_this)->r), 2) ]);
		now.where[ Index(((P1 *)_this)->r, 2) ] = ((int)((P1 *)_this)->d_lane);
#ifdef VAR_RANGES
		logval("where[Drain:r]", ((int)now.where[ Index(((int)((P1 *)_this)->r), 2) ]));
#endif
		;
		/* merge: .(goto)(30, 26, 30) */
		reached[1][26] = 1;
		;
		/* merge: scanned[d_lane] = (scanned[d_lane]+1)(30, 27, 30) */
		reached[1][27] = 1;
		(trpt+1)->bup.ovals[4] = ((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ]);
		now.scanned[ Index(((P1 *)_this)->d_lane, 2) ] = (((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ])+1);
#ifdef VAR_RANGES
		logval("scanned[Drain:d_lane]", ((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ]));
#endif
		;
		/* merge: .(goto)(0, 31, 30) */
		reached[1][31] = 1;
		;
		_m = 3; goto P999; /* 9 */
	case 19: // STATE 21 - lanes.pml:134 - [last[d_lane] = r] (0:30:5 - 3)
		IfNotBlocked
		reached[1][21] = 1;
		(trpt+1)->bup.ovals = grab_ints(5);
		(trpt+1)->bup.ovals[0] = ((int)((P1 *)_this)->last[ Index(((int)((P1 *)_this)->d_lane), 2) ]);
		((P1 *)_this)->last[ Index(((P1 *)_this)->d_lane, 2) ] = ((int)((P1 *)_this)->r);
#ifdef VAR_RANGES
		logval("Drain:last[Drain:d_lane]", ((int)((P1 *)_this)->last[ Index(((int)((P1 *)_this)->d_lane), 2) ]));
#endif
		;
		/* merge: held = (held|(1<<r))(30, 22, 30) */
		reached[1][22] = 1;
		(trpt+1)->bup.ovals[1] = now.held;
		now.held = (now.held|(1<<((int)((P1 *)_this)->r)));
#ifdef VAR_RANGES
		logval("held", now.held);
#endif
		;
		/* merge: at[r] = scanned[d_lane](30, 23, 30) */
		reached[1][23] = 1;
		(trpt+1)->bup.ovals[2] = ((int)now.at[ Index(((int)((P1 *)_this)->r), 2) ]);
		now.at[ Index(((P1 *)_this)->r, 2) ] = ((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ]);
#ifdef VAR_RANGES
		logval("at[Drain:r]", ((int)now.at[ Index(((int)((P1 *)_this)->r), 2) ]));
#endif
		;
		/* merge: where[r] = d_lane(30, 24, 30) */
		reached[1][24] = 1;
		(trpt+1)->bup.ovals[3] = ((int)now.where[ Index(((int)((P1 *)_this)->r), 2) ]);
		now.where[ Index(((P1 *)_this)->r, 2) ] = ((int)((P1 *)_this)->d_lane);
#ifdef VAR_RANGES
		logval("where[Drain:r]", ((int)now.where[ Index(((int)((P1 *)_this)->r), 2) ]));
#endif
		;
		/* merge: .(goto)(30, 26, 30) */
		reached[1][26] = 1;
		;
		/* merge: scanned[d_lane] = (scanned[d_lane]+1)(30, 27, 30) */
		reached[1][27] = 1;
		(trpt+1)->bup.ovals[4] = ((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ]);
		now.scanned[ Index(((P1 *)_this)->d_lane, 2) ] = (((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ])+1);
#ifdef VAR_RANGES
		logval("scanned[Drain:d_lane]", ((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ]));
#endif
		;
		/* merge: .(goto)(0, 31, 30) */
		reached[1][31] = 1;
		;
		_m = 3; goto P999; /* 6 */
	case 20: // STATE 27 - lanes.pml:137 - [scanned[d_lane] = (scanned[d_lane]+1)] (0:30:1 - 5)
		IfNotBlocked
		reached[1][27] = 1;
		(trpt+1)->bup.oval = ((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ]);
		now.scanned[ Index(((P1 *)_this)->d_lane, 2) ] = (((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ])+1);
#ifdef VAR_RANGES
		logval("scanned[Drain:d_lane]", ((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ]));
#endif
		;
		/* merge: .(goto)(0, 31, 30) */
		reached[1][31] = 1;
		;
		_m = 3; goto P999; /* 1 */
	case 21: // STATE 34 - lanes.pml:141 - [d_lane = (d_lane+1)] (0:0:1 - 1)
		IfNotBlocked
		reached[1][34] = 1;
		(trpt+1)->bup.oval = ((int)((P1 *)_this)->d_lane);
		((P1 *)_this)->d_lane = (((int)((P1 *)_this)->d_lane)+1);
#ifdef VAR_RANGES
		logval("Drain:d_lane", ((int)((P1 *)_this)->d_lane));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 22: // STATE 41 - lanes.pml:233 - [interval = (interval+1)] (0:0:1 - 3)
		IfNotBlocked
		reached[1][41] = 1;
		(trpt+1)->bup.oval = ((int)now.interval);
		now.interval = (((int)now.interval)+1);
#ifdef VAR_RANGES
		logval("interval", ((int)now.interval));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 23: // STATE 42 - lanes.pml:235 - [(((lease[0]==0)&&(lease[1]==0)))] (0:0:0 - 1)
		IfNotBlocked
		reached[1][42] = 1;
		if (!(((((int)now.lease[0])==0)&&(((int)now.lease[1])==0))))
			continue;
		_m = 3; goto P999; /* 0 */
	case 24: // STATE 47 - lanes.pml:121 - [d_lane = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[1][47] = 1;
		(trpt+1)->bup.oval = ((int)((P1 *)_this)->d_lane);
		((P1 *)_this)->d_lane = 0;
#ifdef VAR_RANGES
		logval("Drain:d_lane", ((int)((P1 *)_this)->d_lane));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 25: // STATE 48 - lanes.pml:123 - [((d_lane<2))] (0:0:0 - 1)
		IfNotBlocked
		reached[1][48] = 1;
		if (!((((int)((P1 *)_this)->d_lane)<2)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 26: // STATE 49 - lanes.pml:124 - [d_head = head[d_lane]] (0:0:1 - 1)
		IfNotBlocked
		reached[1][49] = 1;
		(trpt+1)->bup.oval = ((int)((P1 *)_this)->d_head);
		((P1 *)_this)->d_head = ((int)now.head[ Index(((int)((P1 *)_this)->d_lane), 2) ]);
#ifdef VAR_RANGES
		logval("Drain:d_head", ((int)((P1 *)_this)->d_head));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 27: // STATE 50 - lanes.pml:127 - [((scanned[d_lane]<d_head))] (69:0:1 - 1)
		IfNotBlocked
		reached[1][50] = 1;
		if (!((((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ])<((int)((P1 *)_this)->d_head))))
			continue;
		/* merge: r = slots[((d_lane*4)+(scanned[d_lane]%4))](0, 51, 69) */
		reached[1][51] = 1;
		(trpt+1)->bup.oval = ((int)((P1 *)_this)->r);
		((P1 *)_this)->r = ((int)now.slots[ Index(((((int)((P1 *)_this)->d_lane)*4)+(((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ])%4)), 8) ]);
#ifdef VAR_RANGES
		logval("Drain:r", ((int)((P1 *)_this)->r));
#endif
		;
		_m = 3; goto P999; /* 1 */
	case 28: // STATE 52 - lanes.pml:130 - [((r==15))] (0:0:1 - 1)
		IfNotBlocked
		reached[1][52] = 1;
		if (!((((int)((P1 *)_this)->r)==15)))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: r */  (trpt+1)->bup.oval = ((P1 *)_this)->r;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P1 *)_this)->r = 0;
		_m = 3; goto P999; /* 0 */
	case 29: // STATE 53 - lanes.pml:130 - [(!(defined_now))] (74:0:3 - 1)
		IfNotBlocked
		reached[1][53] = 1;
		if (!( !(((int)now.defined_now))))
			continue;
		/* merge: defined_now = 1(74, 54, 74) */
		reached[1][54] = 1;
		(trpt+1)->bup.ovals = grab_ints(3);
		(trpt+1)->bup.ovals[0] = ((int)now.defined_now);
		now.defined_now = 1;
#ifdef VAR_RANGES
		logval("defined_now", ((int)now.defined_now));
#endif
		;
		/* merge: announced_in_block = 1(74, 55, 74) */
		reached[1][55] = 1;
		(trpt+1)->bup.ovals[1] = ((int)now.announced_in_block);
		now.announced_in_block = 1;
#ifdef VAR_RANGES
		logval("announced_in_block", ((int)now.announced_in_block));
#endif
		;
		/* merge: .(goto)(74, 58, 74) */
		reached[1][58] = 1;
		;
		/* merge: .(goto)(74, 70, 74) */
		reached[1][70] = 1;
		;
		/* merge: scanned[d_lane] = (scanned[d_lane]+1)(74, 71, 74) */
		reached[1][71] = 1;
		(trpt+1)->bup.ovals[2] = ((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ]);
		now.scanned[ Index(((P1 *)_this)->d_lane, 2) ] = (((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ])+1);
#ifdef VAR_RANGES
		logval("scanned[Drain:d_lane]", ((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ]));
#endif
		;
		/* merge: .(goto)(0, 75, 74) */
		reached[1][75] = 1;
		;
		_m = 3; goto P999; /* 6 */
	case 30: // STATE 60 - lanes.pml:133 - [((last[d_lane]<255))] (74:0:5 - 1)
		IfNotBlocked
		reached[1][60] = 1;
		if (!((((int)((P1 *)_this)->last[ Index(((int)((P1 *)_this)->d_lane), 2) ])<255)))
			continue;
		/* merge: assert((born[last[d_lane]]<=born[r]))(74, 61, 74) */
		reached[1][61] = 1;
		spin_assert((((int)now.born[ Index(((int)((P1 *)_this)->last[ Index(((int)((P1 *)_this)->d_lane), 2) ]), 2) ])<=((int)now.born[ Index(((int)((P1 *)_this)->r), 2) ])), "(born[last[d_lane]]<=born[r])", II, tt, t);
		/* merge: .(goto)(74, 64, 74) */
		reached[1][64] = 1;
		;
		/* merge: last[d_lane] = r(74, 65, 74) */
		reached[1][65] = 1;
		(trpt+1)->bup.ovals = grab_ints(5);
		(trpt+1)->bup.ovals[0] = ((int)((P1 *)_this)->last[ Index(((int)((P1 *)_this)->d_lane), 2) ]);
		((P1 *)_this)->last[ Index(((P1 *)_this)->d_lane, 2) ] = ((int)((P1 *)_this)->r);
#ifdef VAR_RANGES
		logval("Drain:last[Drain:d_lane]", ((int)((P1 *)_this)->last[ Index(((int)((P1 *)_this)->d_lane), 2) ]));
#endif
		;
		/* merge: held = (held|(1<<r))(74, 66, 74) */
		reached[1][66] = 1;
		(trpt+1)->bup.ovals[1] = now.held;
		now.held = (now.held|(1<<((int)((P1 *)_this)->r)));
#ifdef VAR_RANGES
		logval("held", now.held);
#endif
		;
		/* merge: at[r] = scanned[d_lane](74, 67, 74) */
		reached[1][67] = 1;
		(trpt+1)->bup.ovals[2] = ((int)now.at[ Index(((int)((P1 *)_this)->r), 2) ]);
		now.at[ Index(((P1 *)_this)->r, 2) ] = ((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ]);
#ifdef VAR_RANGES
		logval("at[Drain:r]", ((int)now.at[ Index(((int)((P1 *)_this)->r), 2) ]));
#endif
		;
		/* merge: where[r] = d_lane(74, 68, 74) */
		reached[1][68] = 1;
		(trpt+1)->bup.ovals[3] = ((int)now.where[ Index(((int)((P1 *)_this)->r), 2) ]);
		now.where[ Index(((P1 *)_this)->r, 2) ] = ((int)((P1 *)_this)->d_lane);
#ifdef VAR_RANGES
		logval("where[Drain:r]", ((int)now.where[ Index(((int)((P1 *)_this)->r), 2) ]));
#endif
		;
		/* merge: .(goto)(74, 70, 74) */
		reached[1][70] = 1;
		;
		/* merge: scanned[d_lane] = (scanned[d_lane]+1)(74, 71, 74) */
		reached[1][71] = 1;
		(trpt+1)->bup.ovals[4] = ((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ]);
		now.scanned[ Index(((P1 *)_this)->d_lane, 2) ] = (((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ])+1);
#ifdef VAR_RANGES
		logval("scanned[Drain:d_lane]", ((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ]));
#endif
		;
		/* merge: .(goto)(0, 75, 74) */
		reached[1][75] = 1;
		;
		_m = 3; goto P999; /* 9 */
	case 31: // STATE 65 - lanes.pml:134 - [last[d_lane] = r] (0:74:5 - 3)
		IfNotBlocked
		reached[1][65] = 1;
		(trpt+1)->bup.ovals = grab_ints(5);
		(trpt+1)->bup.ovals[0] = ((int)((P1 *)_this)->last[ Index(((int)((P1 *)_this)->d_lane), 2) ]);
		((P1 *)_this)->last[ Index(((P1 *)_this)->d_lane, 2) ] = ((int)((P1 *)_this)->r);
#ifdef VAR_RANGES
		logval("Drain:last[Drain:d_lane]", ((int)((P1 *)_this)->last[ Index(((int)((P1 *)_this)->d_lane), 2) ]));
#endif
		;
		/* merge: held = (held|(1<<r))(74, 66, 74) */
		reached[1][66] = 1;
		(trpt+1)->bup.ovals[1] = now.held;
		now.held = (now.held|(1<<((int)((P1 *)_this)->r)));
#ifdef VAR_RANGES
		logval("held", now.held);
#endif
		;
		/* merge: at[r] = scanned[d_lane](74, 67, 74) */
		reached[1][67] = 1;
		(trpt+1)->bup.ovals[2] = ((int)now.at[ Index(((int)((P1 *)_this)->r), 2) ]);
		now.at[ Index(((P1 *)_this)->r, 2) ] = ((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ]);
#ifdef VAR_RANGES
		logval("at[Drain:r]", ((int)now.at[ Index(((int)((P1 *)_this)->r), 2) ]));
#endif
		;
		/* merge: where[r] = d_lane(74, 68, 74) */
		reached[1][68] = 1;
		(trpt+1)->bup.ovals[3] = ((int)now.where[ Index(((int)((P1 *)_this)->r), 2) ]);
		now.where[ Index(((P1 *)_this)->r, 2) ] = ((int)((P1 *)_this)->d_lane);
#ifdef VAR_RANGES
		logval("where[Drain:r]", ((int)now.where[ Index(((int)((P1 *)_this)->r), 2) ]));
#endif
		;
		/* merge: .(goto)(74, 70, 74) */
		reached[1][70] = 1;
		;
		/* merge: scanned[d_lane] = (scanned[d_lane]+1)(74, 71, 74) */
		reached[1][71] = 1;
		(trpt+1)->bup.ovals[4] = ((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ]);
		now.scanned[ Index(((P1 *)_this)->d_lane, 2) ] = (((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ])+1);
#ifdef VAR_RANGES
		logval("scanned[Drain:d_lane]", ((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ]));
#endif
		;
		/* merge: .(goto)(0, 75, 74) */
		reached[1][75] = 1;
		;
		_m = 3; goto P999; /* 6 */
	case 32: // STATE 71 - lanes.pml:137 - [scanned[d_lane] = (scanned[d_lane]+1)] (0:74:1 - 5)
		IfNotBlocked
		reached[1][71] = 1;
		(trpt+1)->bup.oval = ((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ]);
		now.scanned[ Index(((P1 *)_this)->d_lane, 2) ] = (((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ])+1);
#ifdef VAR_RANGES
		logval("scanned[Drain:d_lane]", ((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ]));
#endif
		;
		/* merge: .(goto)(0, 75, 74) */
		reached[1][75] = 1;
		;
		_m = 3; goto P999; /* 1 */
	case 33: // STATE 78 - lanes.pml:141 - [d_lane = (d_lane+1)] (0:0:1 - 1)
		IfNotBlocked
		reached[1][78] = 1;
		(trpt+1)->bup.oval = ((int)((P1 *)_this)->d_lane);
		((P1 *)_this)->d_lane = (((int)((P1 *)_this)->d_lane)+1);
#ifdef VAR_RANGES
		logval("Drain:d_lane", ((int)((P1 *)_this)->d_lane));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 34: // STATE 85 - lanes.pml:156 - [r = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[1][85] = 1;
		(trpt+1)->bup.oval = ((int)((P1 *)_this)->r);
		((P1 *)_this)->r = 0;
#ifdef VAR_RANGES
		logval("Drain:r", ((int)((P1 *)_this)->r));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 35: // STATE 86 - lanes.pml:158 - [((r<(2*1)))] (0:0:0 - 1)
		IfNotBlocked
		reached[1][86] = 1;
		if (!((((int)((P1 *)_this)->r)<(2*1))))
			continue;
		_m = 3; goto P999; /* 0 */
	case 36: // STATE 87 - lanes.pml:160 - [(((held&(1<<r))&&(0||(born[r]<interval))))] (0:0:0 - 1)
		IfNotBlocked
		reached[1][87] = 1;
		if (!(((now.held&(1<<((int)((P1 *)_this)->r)))&&(0||(((int)now.born[ Index(((int)((P1 *)_this)->r), 2) ])<((int)now.interval))))))
			continue;
		_m = 3; goto P999; /* 0 */
	case 37: // STATE 88 - lanes.pml:149 - [((!(defined_now)&&defined_before))] (106:0:5 - 1)
		IfNotBlocked
		reached[1][88] = 1;
		if (!(( !(((int)now.defined_now))&&((int)now.defined_before))))
			continue;
		/* merge: defined_now = 1(106, 89, 106) */
		reached[1][89] = 1;
		(trpt+1)->bup.ovals = grab_ints(5);
		(trpt+1)->bup.ovals[0] = ((int)now.defined_now);
		now.defined_now = 1;
#ifdef VAR_RANGES
		logval("defined_now", ((int)now.defined_now));
#endif
		;
		/* merge: announced_in_block = 1(106, 90, 106) */
		reached[1][90] = 1;
		(trpt+1)->bup.ovals[1] = ((int)now.announced_in_block);
		now.announced_in_block = 1;
#ifdef VAR_RANGES
		logval("announced_in_block", ((int)now.announced_in_block));
#endif
		;
		/* merge: .(goto)(106, 94, 106) */
		reached[1][94] = 1;
		;
		/* merge: assert(defined_now)(106, 96, 106) */
		reached[1][96] = 1;
		spin_assert(((int)now.defined_now), "defined_now", II, tt, t);
		/* merge: held = (held&~((1<<r)))(106, 97, 106) */
		reached[1][97] = 1;
		(trpt+1)->bup.ovals[2] = now.held;
		now.held = (now.held& ~((1<<((int)((P1 *)_this)->r))));
#ifdef VAR_RANGES
		logval("held", now.held);
#endif
		;
		/* merge: pending = (pending|(1<<r))(106, 98, 106) */
		reached[1][98] = 1;
		(trpt+1)->bup.ovals[3] = now.pending;
		now.pending = (now.pending|(1<<((int)((P1 *)_this)->r)));
#ifdef VAR_RANGES
		logval("pending", now.pending);
#endif
		;
		/* merge: .(goto)(106, 102, 106) */
		reached[1][102] = 1;
		;
		/* merge: r = (r+1)(106, 103, 106) */
		reached[1][103] = 1;
		(trpt+1)->bup.ovals[4] = ((int)((P1 *)_this)->r);
		((P1 *)_this)->r = (((int)((P1 *)_this)->r)+1);
#ifdef VAR_RANGES
		logval("Drain:r", ((int)((P1 *)_this)->r));
#endif
		;
		/* merge: .(goto)(0, 107, 106) */
		reached[1][107] = 1;
		;
		_m = 3; goto P999; /* 9 */
	case 38: // STATE 92 - lanes.pml:150 - [(1)] (106:0:3 - 1)
		IfNotBlocked
		reached[1][92] = 1;
		if (!(1))
			continue;
		/* merge: .(goto)(106, 94, 106) */
		reached[1][94] = 1;
		;
		/* merge: assert(defined_now)(106, 96, 106) */
		reached[1][96] = 1;
		spin_assert(((int)now.defined_now), "defined_now", II, tt, t);
		/* merge: held = (held&~((1<<r)))(106, 97, 106) */
		reached[1][97] = 1;
		(trpt+1)->bup.ovals = grab_ints(3);
		(trpt+1)->bup.ovals[0] = now.held;
		now.held = (now.held& ~((1<<((int)((P1 *)_this)->r))));
#ifdef VAR_RANGES
		logval("held", now.held);
#endif
		;
		/* merge: pending = (pending|(1<<r))(106, 98, 106) */
		reached[1][98] = 1;
		(trpt+1)->bup.ovals[1] = now.pending;
		now.pending = (now.pending|(1<<((int)((P1 *)_this)->r)));
#ifdef VAR_RANGES
		logval("pending", now.pending);
#endif
		;
		/* merge: .(goto)(106, 102, 106) */
		reached[1][102] = 1;
		;
		/* merge: r = (r+1)(106, 103, 106) */
		reached[1][103] = 1;
		(trpt+1)->bup.ovals[2] = ((int)((P1 *)_this)->r);
		((P1 *)_this)->r = (((int)((P1 *)_this)->r)+1);
#ifdef VAR_RANGES
		logval("Drain:r", ((int)((P1 *)_this)->r));
#endif
		;
		/* merge: .(goto)(0, 107, 106) */
		reached[1][107] = 1;
		;
		_m = 3; goto P999; /* 7 */
	case 39: // STATE 96 - lanes.pml:162 - [assert(defined_now)] (0:106:3 - 3)
		IfNotBlocked
		reached[1][96] = 1;
		spin_assert(((int)now.defined_now), "defined_now", II, tt, t);
		/* merge: held = (held&~((1<<r)))(106, 97, 106) */
		reached[1][97] = 1;
		(trpt+1)->bup.ovals = grab_ints(3);
		(trpt+1)->bup.ovals[0] = now.held;
		now.held = (now.held& ~((1<<((int)((P1 *)_this)->r))));
#ifdef VAR_RANGES
		logval("held", now.held);
#endif
		;
		/* merge: pending = (pending|(1<<r))(106, 98, 106) */
		reached[1][98] = 1;
		(trpt+1)->bup.ovals[1] = now.pending;
		now.pending = (now.pending|(1<<((int)((P1 *)_this)->r)));
#ifdef VAR_RANGES
		logval("pending", now.pending);
#endif
		;
		/* merge: .(goto)(106, 102, 106) */
		reached[1][102] = 1;
		;
		/* merge: r = (r+1)(106, 103, 106) */
		reached[1][103] = 1;
		(trpt+1)->bup.ovals[2] = ((int)((P1 *)_this)->r);
		((P1 *)_this)->r = (((int)((P1 *)_this)->r)+1);
#ifdef VAR_RANGES
		logval("Drain:r", ((int)((P1 *)_this)->r));
#endif
		;
		/* merge: .(goto)(0, 107, 106) */
		reached[1][107] = 1;
		;
		_m = 3; goto P999; /* 5 */
	case 40: // STATE 100 - lanes.pml:165 - [(1)] (106:0:1 - 1)
		IfNotBlocked
		reached[1][100] = 1;
		if (!(1))
			continue;
		/* merge: .(goto)(106, 102, 106) */
		reached[1][102] = 1;
		;
		/* merge: r = (r+1)(106, 103, 106) */
		reached[1][103] = 1;
		(trpt+1)->bup.oval = ((int)((P1 *)_this)->r);
		((P1 *)_this)->r = (((int)((P1 *)_this)->r)+1);
#ifdef VAR_RANGES
		logval("Drain:r", ((int)((P1 *)_this)->r));
#endif
		;
		/* merge: .(goto)(0, 107, 106) */
		reached[1][107] = 1;
		;
		_m = 3; goto P999; /* 3 */
	case 41: // STATE 103 - lanes.pml:167 - [r = (r+1)] (0:106:1 - 3)
		IfNotBlocked
		reached[1][103] = 1;
		(trpt+1)->bup.oval = ((int)((P1 *)_this)->r);
		((P1 *)_this)->r = (((int)((P1 *)_this)->r)+1);
#ifdef VAR_RANGES
		logval("Drain:r", ((int)((P1 *)_this)->r));
#endif
		;
		/* merge: .(goto)(0, 107, 106) */
		reached[1][107] = 1;
		;
		_m = 3; goto P999; /* 1 */
	case 42: // STATE 111 - lanes.pml:190 - [d_lane = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[1][111] = 1;
		(trpt+1)->bup.oval = ((int)((P1 *)_this)->d_lane);
		((P1 *)_this)->d_lane = 0;
#ifdef VAR_RANGES
		logval("Drain:d_lane", ((int)((P1 *)_this)->d_lane));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 43: // STATE 112 - lanes.pml:192 - [((d_lane<2))] (125:0:2 - 1)
		IfNotBlocked
		reached[1][112] = 1;
		if (!((((int)((P1 *)_this)->d_lane)<2)))
			continue;
		/* merge: needed[d_lane] = scanned[d_lane](125, 113, 125) */
		reached[1][113] = 1;
		(trpt+1)->bup.ovals = grab_ints(2);
		(trpt+1)->bup.ovals[0] = ((int)now.needed[ Index(((int)((P1 *)_this)->d_lane), 2) ]);
		now.needed[ Index(((P1 *)_this)->d_lane, 2) ] = ((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ]);
#ifdef VAR_RANGES
		logval("needed[Drain:d_lane]", ((int)now.needed[ Index(((int)((P1 *)_this)->d_lane), 2) ]));
#endif
		;
		/* merge: r = 0(125, 114, 125) */
		reached[1][114] = 1;
		(trpt+1)->bup.ovals[1] = ((int)((P1 *)_this)->r);
		((P1 *)_this)->r = 0;
#ifdef VAR_RANGES
		logval("Drain:r", ((int)((P1 *)_this)->r));
#endif
		;
		/* merge: .(goto)(0, 126, 125) */
		reached[1][126] = 1;
		;
		_m = 3; goto P999; /* 3 */
	case 44: // STATE 115 - lanes.pml:196 - [((r<(2*1)))] (0:0:0 - 1)
		IfNotBlocked
		reached[1][115] = 1;
		if (!((((int)((P1 *)_this)->r)<(2*1))))
			continue;
		_m = 3; goto P999; /* 0 */
	case 45: // STATE 116 - lanes.pml:198 - [((((held&(1<<r))&&(where[r]==d_lane))&&(at[r]<needed[d_lane])))] (125:0:2 - 1)
		IfNotBlocked
		reached[1][116] = 1;
		if (!((((now.held&(1<<((int)((P1 *)_this)->r)))&&(((int)now.where[ Index(((int)((P1 *)_this)->r), 2) ])==((int)((P1 *)_this)->d_lane)))&&(((int)now.at[ Index(((int)((P1 *)_this)->r), 2) ])<((int)now.needed[ Index(((int)((P1 *)_this)->d_lane), 2) ])))))
			continue;
		/* merge: needed[d_lane] = at[r](125, 117, 125) */
		reached[1][117] = 1;
		(trpt+1)->bup.ovals = grab_ints(2);
		(trpt+1)->bup.ovals[0] = ((int)now.needed[ Index(((int)((P1 *)_this)->d_lane), 2) ]);
		now.needed[ Index(((P1 *)_this)->d_lane, 2) ] = ((int)now.at[ Index(((int)((P1 *)_this)->r), 2) ]);
#ifdef VAR_RANGES
		logval("needed[Drain:d_lane]", ((int)now.needed[ Index(((int)((P1 *)_this)->d_lane), 2) ]));
#endif
		;
		/* merge: .(goto)(125, 121, 125) */
		reached[1][121] = 1;
		;
		/* merge: r = (r+1)(125, 122, 125) */
		reached[1][122] = 1;
		(trpt+1)->bup.ovals[1] = ((int)((P1 *)_this)->r);
		((P1 *)_this)->r = (((int)((P1 *)_this)->r)+1);
#ifdef VAR_RANGES
		logval("Drain:r", ((int)((P1 *)_this)->r));
#endif
		;
		/* merge: .(goto)(0, 126, 125) */
		reached[1][126] = 1;
		;
		_m = 3; goto P999; /* 4 */
	case 46: // STATE 119 - lanes.pml:199 - [(1)] (125:0:1 - 1)
		IfNotBlocked
		reached[1][119] = 1;
		if (!(1))
			continue;
		/* merge: .(goto)(125, 121, 125) */
		reached[1][121] = 1;
		;
		/* merge: r = (r+1)(125, 122, 125) */
		reached[1][122] = 1;
		(trpt+1)->bup.oval = ((int)((P1 *)_this)->r);
		((P1 *)_this)->r = (((int)((P1 *)_this)->r)+1);
#ifdef VAR_RANGES
		logval("Drain:r", ((int)((P1 *)_this)->r));
#endif
		;
		/* merge: .(goto)(0, 126, 125) */
		reached[1][126] = 1;
		;
		_m = 3; goto P999; /* 3 */
	case 47: // STATE 122 - lanes.pml:201 - [r = (r+1)] (0:125:1 - 3)
		IfNotBlocked
		reached[1][122] = 1;
		(trpt+1)->bup.oval = ((int)((P1 *)_this)->r);
		((P1 *)_this)->r = (((int)((P1 *)_this)->r)+1);
#ifdef VAR_RANGES
		logval("Drain:r", ((int)((P1 *)_this)->r));
#endif
		;
		/* merge: .(goto)(0, 126, 125) */
		reached[1][126] = 1;
		;
		_m = 3; goto P999; /* 1 */
	case 48: // STATE 128 - lanes.pml:204 - [d_lane = (d_lane+1)] (0:131:1 - 3)
		IfNotBlocked
		reached[1][128] = 1;
		(trpt+1)->bup.oval = ((int)((P1 *)_this)->d_lane);
		((P1 *)_this)->d_lane = (((int)((P1 *)_this)->d_lane)+1);
#ifdef VAR_RANGES
		logval("Drain:d_lane", ((int)((P1 *)_this)->d_lane));
#endif
		;
		/* merge: .(goto)(0, 132, 131) */
		reached[1][132] = 1;
		;
		_m = 3; goto P999; /* 1 */
	case 49: // STATE 135 - lanes.pml:211 - [in_file = (in_file|pending)] (0:0:1 - 1)
		IfNotBlocked
		reached[1][135] = 1;
		(trpt+1)->bup.oval = now.in_file;
		now.in_file = (now.in_file|now.pending);
#ifdef VAR_RANGES
		logval("in_file", now.in_file);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 50: // STATE 136 - lanes.pml:212 - [(announced_in_block)] (153:0:5 - 1)
		IfNotBlocked
		reached[1][136] = 1;
		if (!(((int)now.announced_in_block)))
			continue;
		/* merge: defined_in_file = (defined_in_file|(1<<chunk))(153, 137, 153) */
		reached[1][137] = 1;
		(trpt+1)->bup.ovals = grab_ints(5);
		(trpt+1)->bup.ovals[0] = ((int)now.defined_in_file);
		now.defined_in_file = (((int)now.defined_in_file)|(1<<((int)now.chunk)));
#ifdef VAR_RANGES
		logval("defined_in_file", ((int)now.defined_in_file));
#endif
		;
		/* merge: .(goto)(153, 141, 153) */
		reached[1][141] = 1;
		;
		/* merge: announced_in_block = 0(153, 142, 153) */
		reached[1][142] = 1;
		(trpt+1)->bup.ovals[1] = ((int)now.announced_in_block);
		now.announced_in_block = 0;
#ifdef VAR_RANGES
		logval("announced_in_block", ((int)now.announced_in_block));
#endif
		;
		/* merge: positions[0] = needed[0](153, 143, 153) */
		reached[1][143] = 1;
		(trpt+1)->bup.ovals[2] = ((int)now.positions[0]);
		now.positions[0] = ((int)now.needed[0]);
#ifdef VAR_RANGES
		logval("positions[0]", ((int)now.positions[0]));
#endif
		;
		/* merge: positions[1] = needed[1](153, 144, 153) */
		reached[1][144] = 1;
		(trpt+1)->bup.ovals[3] = ((int)now.positions[1]);
		now.positions[1] = ((int)now.needed[1]);
#ifdef VAR_RANGES
		logval("positions[1]", ((int)now.positions[1]));
#endif
		;
		/* merge: failed = 0(153, 145, 153) */
		reached[1][145] = 1;
		(trpt+1)->bup.ovals[4] = ((int)((P1 *)_this)->failed);
		((P1 *)_this)->failed = 0;
#ifdef VAR_RANGES
		logval("Drain:failed", ((int)((P1 *)_this)->failed));
#endif
		;
		/* merge: .(goto)(0, 152, 153) */
		reached[1][152] = 1;
		;
		_m = 3; goto P999; /* 7 */
	case 51: // STATE 139 - lanes.pml:212 - [(1)] (153:0:4 - 1)
		IfNotBlocked
		reached[1][139] = 1;
		if (!(1))
			continue;
		/* merge: .(goto)(153, 141, 153) */
		reached[1][141] = 1;
		;
		/* merge: announced_in_block = 0(153, 142, 153) */
		reached[1][142] = 1;
		(trpt+1)->bup.ovals = grab_ints(4);
		(trpt+1)->bup.ovals[0] = ((int)now.announced_in_block);
		now.announced_in_block = 0;
#ifdef VAR_RANGES
		logval("announced_in_block", ((int)now.announced_in_block));
#endif
		;
		/* merge: positions[0] = needed[0](153, 143, 153) */
		reached[1][143] = 1;
		(trpt+1)->bup.ovals[1] = ((int)now.positions[0]);
		now.positions[0] = ((int)now.needed[0]);
#ifdef VAR_RANGES
		logval("positions[0]", ((int)now.positions[0]));
#endif
		;
		/* merge: positions[1] = needed[1](153, 144, 153) */
		reached[1][144] = 1;
		(trpt+1)->bup.ovals[2] = ((int)now.positions[1]);
		now.positions[1] = ((int)now.needed[1]);
#ifdef VAR_RANGES
		logval("positions[1]", ((int)now.positions[1]));
#endif
		;
		/* merge: failed = 0(153, 145, 153) */
		reached[1][145] = 1;
		(trpt+1)->bup.ovals[3] = ((int)((P1 *)_this)->failed);
		((P1 *)_this)->failed = 0;
#ifdef VAR_RANGES
		logval("Drain:failed", ((int)((P1 *)_this)->failed));
#endif
		;
		/* merge: .(goto)(0, 152, 153) */
		reached[1][152] = 1;
		;
		_m = 3; goto P999; /* 6 */
	case 52: // STATE 142 - lanes.pml:213 - [announced_in_block = 0] (0:153:4 - 3)
		IfNotBlocked
		reached[1][142] = 1;
		(trpt+1)->bup.ovals = grab_ints(4);
		(trpt+1)->bup.ovals[0] = ((int)now.announced_in_block);
		now.announced_in_block = 0;
#ifdef VAR_RANGES
		logval("announced_in_block", ((int)now.announced_in_block));
#endif
		;
		/* merge: positions[0] = needed[0](153, 143, 153) */
		reached[1][143] = 1;
		(trpt+1)->bup.ovals[1] = ((int)now.positions[0]);
		now.positions[0] = ((int)now.needed[0]);
#ifdef VAR_RANGES
		logval("positions[0]", ((int)now.positions[0]));
#endif
		;
		/* merge: positions[1] = needed[1](153, 144, 153) */
		reached[1][144] = 1;
		(trpt+1)->bup.ovals[2] = ((int)now.positions[1]);
		now.positions[1] = ((int)now.needed[1]);
#ifdef VAR_RANGES
		logval("positions[1]", ((int)now.positions[1]));
#endif
		;
		/* merge: failed = 0(153, 145, 153) */
		reached[1][145] = 1;
		(trpt+1)->bup.ovals[3] = ((int)((P1 *)_this)->failed);
		((P1 *)_this)->failed = 0;
#ifdef VAR_RANGES
		logval("Drain:failed", ((int)((P1 *)_this)->failed));
#endif
		;
		/* merge: .(goto)(0, 152, 153) */
		reached[1][152] = 1;
		;
		_m = 3; goto P999; /* 4 */
	case 53: // STATE 148 - lanes.pml:217 - [lost = (lost|pending)] (0:153:2 - 1)
		IfNotBlocked
		reached[1][148] = 1;
		(trpt+1)->bup.ovals = grab_ints(2);
		(trpt+1)->bup.ovals[0] = now.lost;
		now.lost = (now.lost|now.pending);
#ifdef VAR_RANGES
		logval("lost", now.lost);
#endif
		;
		/* merge: failed = 1(153, 149, 153) */
		reached[1][149] = 1;
		(trpt+1)->bup.ovals[1] = ((int)((P1 *)_this)->failed);
		((P1 *)_this)->failed = 1;
#ifdef VAR_RANGES
		logval("Drain:failed", ((int)((P1 *)_this)->failed));
#endif
		;
		/* merge: .(goto)(0, 152, 153) */
		reached[1][152] = 1;
		;
		_m = 3; goto P999; /* 2 */
	case 54: // STATE 153 - lanes.pml:219 - [pending = 0] (0:0:1 - 3)
		IfNotBlocked
		reached[1][153] = 1;
		(trpt+1)->bup.oval = now.pending;
		now.pending = 0;
#ifdef VAR_RANGES
		logval("pending", now.pending);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 55: // STATE 154 - lanes.pml:220 - [((failed||0))] (0:0:1 - 1)
		IfNotBlocked
		reached[1][154] = 1;
		if (!((((int)((P1 *)_this)->failed)||0)))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: failed */  (trpt+1)->bup.oval = ((P1 *)_this)->failed;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P1 *)_this)->failed = 0;
		_m = 3; goto P999; /* 0 */
	case 56: // STATE 155 - lanes.pml:175 - [chunk = (chunk+1)] (0:0:1 - 1)
		IfNotBlocked
		reached[1][155] = 1;
		(trpt+1)->bup.oval = ((int)now.chunk);
		now.chunk = (((int)now.chunk)+1);
#ifdef VAR_RANGES
		logval("chunk", ((int)now.chunk));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 57: // STATE 156 - lanes.pml:178 - [((((under_way[0]==0)||(under_way[0]==epoch))&&((under_way[1]==0)||(under_way[1]==epoch))))] (175:0:3 - 1)
		IfNotBlocked
		reached[1][156] = 1;
		if (!((((((int)now.under_way[0])==0)||(((int)now.under_way[0])==((int)now.epoch)))&&((((int)now.under_way[1])==0)||(((int)now.under_way[1])==((int)now.epoch))))))
			continue;
		/* merge: defined_before = defined_now(175, 157, 175) */
		reached[1][157] = 1;
		(trpt+1)->bup.ovals = grab_ints(3);
		(trpt+1)->bup.ovals[0] = ((int)now.defined_before);
		now.defined_before = ((int)now.defined_now);
#ifdef VAR_RANGES
		logval("defined_before", ((int)now.defined_before));
#endif
		;
		/* merge: .(goto)(175, 161, 175) */
		reached[1][161] = 1;
		;
		/* merge: defined_now = 0(175, 162, 175) */
		reached[1][162] = 1;
		(trpt+1)->bup.ovals[1] = ((int)now.defined_now);
		now.defined_now = 0;
#ifdef VAR_RANGES
		logval("defined_now", ((int)now.defined_now));
#endif
		;
		/* merge: announced_in_block = 0(175, 163, 175) */
		reached[1][163] = 1;
		(trpt+1)->bup.ovals[2] = ((int)now.announced_in_block);
		now.announced_in_block = 0;
#ifdef VAR_RANGES
		logval("announced_in_block", ((int)now.announced_in_block));
#endif
		;
		_m = 3; goto P999; /* 4 */
	case 58: // STATE 159 - lanes.pml:180 - [defined_before = (defined_before||defined_now)] (0:175:3 - 1)
		IfNotBlocked
		reached[1][159] = 1;
		(trpt+1)->bup.ovals = grab_ints(3);
		(trpt+1)->bup.ovals[0] = ((int)now.defined_before);
		now.defined_before = (((int)now.defined_before)||((int)now.defined_now));
#ifdef VAR_RANGES
		logval("defined_before", ((int)now.defined_before));
#endif
		;
		/* merge: .(goto)(175, 161, 175) */
		reached[1][161] = 1;
		;
		/* merge: defined_now = 0(175, 162, 175) */
		reached[1][162] = 1;
		(trpt+1)->bup.ovals[1] = ((int)now.defined_now);
		now.defined_now = 0;
#ifdef VAR_RANGES
		logval("defined_now", ((int)now.defined_now));
#endif
		;
		/* merge: announced_in_block = 0(175, 163, 175) */
		reached[1][163] = 1;
		(trpt+1)->bup.ovals[2] = ((int)now.announced_in_block);
		now.announced_in_block = 0;
#ifdef VAR_RANGES
		logval("announced_in_block", ((int)now.announced_in_block));
#endif
		;
		_m = 3; goto P999; /* 3 */
	case 59: // STATE 162 - lanes.pml:182 - [defined_now = 0] (0:175:2 - 3)
		IfNotBlocked
		reached[1][162] = 1;
		(trpt+1)->bup.ovals = grab_ints(2);
		(trpt+1)->bup.ovals[0] = ((int)now.defined_now);
		now.defined_now = 0;
#ifdef VAR_RANGES
		logval("defined_now", ((int)now.defined_now));
#endif
		;
		/* merge: announced_in_block = 0(175, 163, 175) */
		reached[1][163] = 1;
		(trpt+1)->bup.ovals[1] = ((int)now.announced_in_block);
		now.announced_in_block = 0;
#ifdef VAR_RANGES
		logval("announced_in_block", ((int)now.announced_in_block));
#endif
		;
		_m = 3; goto P999; /* 1 */
	case 60: // STATE 164 - lanes.pml:183 - [((held!=0))] (0:0:0 - 1)
		IfNotBlocked
		reached[1][164] = 1;
		if (!((now.held!=0)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 61: // STATE 165 - lanes.pml:149 - [((!(defined_now)&&defined_before))] (178:0:2 - 1)
		IfNotBlocked
		reached[1][165] = 1;
		if (!(( !(((int)now.defined_now))&&((int)now.defined_before))))
			continue;
		/* merge: defined_now = 1(178, 166, 178) */
		reached[1][166] = 1;
		(trpt+1)->bup.ovals = grab_ints(2);
		(trpt+1)->bup.ovals[0] = ((int)now.defined_now);
		now.defined_now = 1;
#ifdef VAR_RANGES
		logval("defined_now", ((int)now.defined_now));
#endif
		;
		/* merge: announced_in_block = 1(178, 167, 178) */
		reached[1][167] = 1;
		(trpt+1)->bup.ovals[1] = ((int)now.announced_in_block);
		now.announced_in_block = 1;
#ifdef VAR_RANGES
		logval("announced_in_block", ((int)now.announced_in_block));
#endif
		;
		/* merge: .(goto)(178, 171, 178) */
		reached[1][171] = 1;
		;
		/* merge: .(goto)(178, 176, 178) */
		reached[1][176] = 1;
		;
		_m = 3; goto P999; /* 4 */
	case 62: // STATE 171 - lanes.pml:152 - [.(goto)] (0:178:0 - 2)
		IfNotBlocked
		reached[1][171] = 1;
		;
		/* merge: .(goto)(178, 176, 178) */
		reached[1][176] = 1;
		;
		_m = 3; goto P999; /* 1 */
	case 63: // STATE 169 - lanes.pml:150 - [(1)] (178:0:0 - 1)
		IfNotBlocked
		reached[1][169] = 1;
		if (!(1))
			continue;
		/* merge: .(goto)(178, 171, 178) */
		reached[1][171] = 1;
		;
		/* merge: .(goto)(178, 176, 178) */
		reached[1][176] = 1;
		;
		_m = 3; goto P999; /* 2 */
	case 64: // STATE 176 - lanes.pml:184 - [.(goto)] (0:178:0 - 2)
		IfNotBlocked
		reached[1][176] = 1;
		;
		_m = 3; goto P999; /* 0 */
	case 65: // STATE 174 - lanes.pml:183 - [(1)] (178:0:0 - 1)
		IfNotBlocked
		reached[1][174] = 1;
		if (!(1))
			continue;
		/* merge: .(goto)(178, 176, 178) */
		reached[1][176] = 1;
		;
		_m = 3; goto P999; /* 1 */
	case 66: // STATE 178 - lanes.pml:185 - [epoch = (epoch+1)] (0:0:1 - 1)
		IfNotBlocked
		reached[1][178] = 1;
		(trpt+1)->bup.oval = ((int)now.epoch);
		now.epoch = (((int)now.epoch)+1);
#ifdef VAR_RANGES
		logval("epoch", ((int)now.epoch));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 67: // STATE 184 - lanes.pml:221 - [tail[0] = needed[0]] (0:0:1 - 3)
		IfNotBlocked
		reached[1][184] = 1;
		(trpt+1)->bup.oval = ((int)now.tail[0]);
		now.tail[0] = ((int)now.needed[0]);
#ifdef VAR_RANGES
		logval("tail[0]", ((int)now.tail[0]));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 68: // STATE 185 - lanes.pml:222 - [tail[1] = needed[1]] (0:0:1 - 1)
		IfNotBlocked
		reached[1][185] = 1;
		(trpt+1)->bup.oval = ((int)now.tail[1]);
		now.tail[1] = ((int)now.needed[1]);
#ifdef VAR_RANGES
		logval("tail[1]", ((int)now.tail[1]));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 69: // STATE 187 - lanes.pml:190 - [d_lane = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[1][187] = 1;
		(trpt+1)->bup.oval = ((int)((P1 *)_this)->d_lane);
		((P1 *)_this)->d_lane = 0;
#ifdef VAR_RANGES
		logval("Drain:d_lane", ((int)((P1 *)_this)->d_lane));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 70: // STATE 188 - lanes.pml:192 - [((d_lane<2))] (201:0:2 - 1)
		IfNotBlocked
		reached[1][188] = 1;
		if (!((((int)((P1 *)_this)->d_lane)<2)))
			continue;
		/* merge: needed[d_lane] = scanned[d_lane](201, 189, 201) */
		reached[1][189] = 1;
		(trpt+1)->bup.ovals = grab_ints(2);
		(trpt+1)->bup.ovals[0] = ((int)now.needed[ Index(((int)((P1 *)_this)->d_lane), 2) ]);
		now.needed[ Index(((P1 *)_this)->d_lane, 2) ] = ((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ]);
#ifdef VAR_RANGES
		logval("needed[Drain:d_lane]", ((int)now.needed[ Index(((int)((P1 *)_this)->d_lane), 2) ]));
#endif
		;
		/* merge: r = 0(201, 190, 201) */
		reached[1][190] = 1;
		(trpt+1)->bup.ovals[1] = ((int)((P1 *)_this)->r);
		((P1 *)_this)->r = 0;
#ifdef VAR_RANGES
		logval("Drain:r", ((int)((P1 *)_this)->r));
#endif
		;
		/* merge: .(goto)(0, 202, 201) */
		reached[1][202] = 1;
		;
		_m = 3; goto P999; /* 3 */
	case 71: // STATE 191 - lanes.pml:196 - [((r<(2*1)))] (0:0:0 - 1)
		IfNotBlocked
		reached[1][191] = 1;
		if (!((((int)((P1 *)_this)->r)<(2*1))))
			continue;
		_m = 3; goto P999; /* 0 */
	case 72: // STATE 192 - lanes.pml:198 - [((((held&(1<<r))&&(where[r]==d_lane))&&(at[r]<needed[d_lane])))] (201:0:2 - 1)
		IfNotBlocked
		reached[1][192] = 1;
		if (!((((now.held&(1<<((int)((P1 *)_this)->r)))&&(((int)now.where[ Index(((int)((P1 *)_this)->r), 2) ])==((int)((P1 *)_this)->d_lane)))&&(((int)now.at[ Index(((int)((P1 *)_this)->r), 2) ])<((int)now.needed[ Index(((int)((P1 *)_this)->d_lane), 2) ])))))
			continue;
		/* merge: needed[d_lane] = at[r](201, 193, 201) */
		reached[1][193] = 1;
		(trpt+1)->bup.ovals = grab_ints(2);
		(trpt+1)->bup.ovals[0] = ((int)now.needed[ Index(((int)((P1 *)_this)->d_lane), 2) ]);
		now.needed[ Index(((P1 *)_this)->d_lane, 2) ] = ((int)now.at[ Index(((int)((P1 *)_this)->r), 2) ]);
#ifdef VAR_RANGES
		logval("needed[Drain:d_lane]", ((int)now.needed[ Index(((int)((P1 *)_this)->d_lane), 2) ]));
#endif
		;
		/* merge: .(goto)(201, 197, 201) */
		reached[1][197] = 1;
		;
		/* merge: r = (r+1)(201, 198, 201) */
		reached[1][198] = 1;
		(trpt+1)->bup.ovals[1] = ((int)((P1 *)_this)->r);
		((P1 *)_this)->r = (((int)((P1 *)_this)->r)+1);
#ifdef VAR_RANGES
		logval("Drain:r", ((int)((P1 *)_this)->r));
#endif
		;
		/* merge: .(goto)(0, 202, 201) */
		reached[1][202] = 1;
		;
		_m = 3; goto P999; /* 4 */
	case 73: // STATE 195 - lanes.pml:199 - [(1)] (201:0:1 - 1)
		IfNotBlocked
		reached[1][195] = 1;
		if (!(1))
			continue;
		/* merge: .(goto)(201, 197, 201) */
		reached[1][197] = 1;
		;
		/* merge: r = (r+1)(201, 198, 201) */
		reached[1][198] = 1;
		(trpt+1)->bup.oval = ((int)((P1 *)_this)->r);
		((P1 *)_this)->r = (((int)((P1 *)_this)->r)+1);
#ifdef VAR_RANGES
		logval("Drain:r", ((int)((P1 *)_this)->r));
#endif
		;
		/* merge: .(goto)(0, 202, 201) */
		reached[1][202] = 1;
		;
		_m = 3; goto P999; /* 3 */
	case 74: // STATE 198 - lanes.pml:201 - [r = (r+1)] (0:201:1 - 3)
		IfNotBlocked
		reached[1][198] = 1;
		(trpt+1)->bup.oval = ((int)((P1 *)_this)->r);
		((P1 *)_this)->r = (((int)((P1 *)_this)->r)+1);
#ifdef VAR_RANGES
		logval("Drain:r", ((int)((P1 *)_this)->r));
#endif
		;
		/* merge: .(goto)(0, 202, 201) */
		reached[1][202] = 1;
		;
		_m = 3; goto P999; /* 1 */
	case 75: // STATE 204 - lanes.pml:204 - [d_lane = (d_lane+1)] (0:207:1 - 3)
		IfNotBlocked
		reached[1][204] = 1;
		(trpt+1)->bup.oval = ((int)((P1 *)_this)->d_lane);
		((P1 *)_this)->d_lane = (((int)((P1 *)_this)->d_lane)+1);
#ifdef VAR_RANGES
		logval("Drain:d_lane", ((int)((P1 *)_this)->d_lane));
#endif
		;
		/* merge: .(goto)(0, 208, 207) */
		reached[1][208] = 1;
		;
		_m = 3; goto P999; /* 1 */
	case 76: // STATE 211 - lanes.pml:211 - [in_file = (in_file|pending)] (0:0:1 - 1)
		IfNotBlocked
		reached[1][211] = 1;
		(trpt+1)->bup.oval = now.in_file;
		now.in_file = (now.in_file|now.pending);
#ifdef VAR_RANGES
		logval("in_file", now.in_file);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 77: // STATE 212 - lanes.pml:212 - [(announced_in_block)] (229:0:5 - 1)
		IfNotBlocked
		reached[1][212] = 1;
		if (!(((int)now.announced_in_block)))
			continue;
		/* merge: defined_in_file = (defined_in_file|(1<<chunk))(229, 213, 229) */
		reached[1][213] = 1;
		(trpt+1)->bup.ovals = grab_ints(5);
		(trpt+1)->bup.ovals[0] = ((int)now.defined_in_file);
		now.defined_in_file = (((int)now.defined_in_file)|(1<<((int)now.chunk)));
#ifdef VAR_RANGES
		logval("defined_in_file", ((int)now.defined_in_file));
#endif
		;
		/* merge: .(goto)(229, 217, 229) */
		reached[1][217] = 1;
		;
		/* merge: announced_in_block = 0(229, 218, 229) */
		reached[1][218] = 1;
		(trpt+1)->bup.ovals[1] = ((int)now.announced_in_block);
		now.announced_in_block = 0;
#ifdef VAR_RANGES
		logval("announced_in_block", ((int)now.announced_in_block));
#endif
		;
		/* merge: positions[0] = needed[0](229, 219, 229) */
		reached[1][219] = 1;
		(trpt+1)->bup.ovals[2] = ((int)now.positions[0]);
		now.positions[0] = ((int)now.needed[0]);
#ifdef VAR_RANGES
		logval("positions[0]", ((int)now.positions[0]));
#endif
		;
		/* merge: positions[1] = needed[1](229, 220, 229) */
		reached[1][220] = 1;
		(trpt+1)->bup.ovals[3] = ((int)now.positions[1]);
		now.positions[1] = ((int)now.needed[1]);
#ifdef VAR_RANGES
		logval("positions[1]", ((int)now.positions[1]));
#endif
		;
		/* merge: failed = 0(229, 221, 229) */
		reached[1][221] = 1;
		(trpt+1)->bup.ovals[4] = ((int)((P1 *)_this)->failed);
		((P1 *)_this)->failed = 0;
#ifdef VAR_RANGES
		logval("Drain:failed", ((int)((P1 *)_this)->failed));
#endif
		;
		/* merge: .(goto)(0, 228, 229) */
		reached[1][228] = 1;
		;
		_m = 3; goto P999; /* 7 */
	case 78: // STATE 215 - lanes.pml:212 - [(1)] (229:0:4 - 1)
		IfNotBlocked
		reached[1][215] = 1;
		if (!(1))
			continue;
		/* merge: .(goto)(229, 217, 229) */
		reached[1][217] = 1;
		;
		/* merge: announced_in_block = 0(229, 218, 229) */
		reached[1][218] = 1;
		(trpt+1)->bup.ovals = grab_ints(4);
		(trpt+1)->bup.ovals[0] = ((int)now.announced_in_block);
		now.announced_in_block = 0;
#ifdef VAR_RANGES
		logval("announced_in_block", ((int)now.announced_in_block));
#endif
		;
		/* merge: positions[0] = needed[0](229, 219, 229) */
		reached[1][219] = 1;
		(trpt+1)->bup.ovals[1] = ((int)now.positions[0]);
		now.positions[0] = ((int)now.needed[0]);
#ifdef VAR_RANGES
		logval("positions[0]", ((int)now.positions[0]));
#endif
		;
		/* merge: positions[1] = needed[1](229, 220, 229) */
		reached[1][220] = 1;
		(trpt+1)->bup.ovals[2] = ((int)now.positions[1]);
		now.positions[1] = ((int)now.needed[1]);
#ifdef VAR_RANGES
		logval("positions[1]", ((int)now.positions[1]));
#endif
		;
		/* merge: failed = 0(229, 221, 229) */
		reached[1][221] = 1;
		(trpt+1)->bup.ovals[3] = ((int)((P1 *)_this)->failed);
		((P1 *)_this)->failed = 0;
#ifdef VAR_RANGES
		logval("Drain:failed", ((int)((P1 *)_this)->failed));
#endif
		;
		/* merge: .(goto)(0, 228, 229) */
		reached[1][228] = 1;
		;
		_m = 3; goto P999; /* 6 */
	case 79: // STATE 218 - lanes.pml:213 - [announced_in_block = 0] (0:229:4 - 3)
		IfNotBlocked
		reached[1][218] = 1;
		(trpt+1)->bup.ovals = grab_ints(4);
		(trpt+1)->bup.ovals[0] = ((int)now.announced_in_block);
		now.announced_in_block = 0;
#ifdef VAR_RANGES
		logval("announced_in_block", ((int)now.announced_in_block));
#endif
		;
		/* merge: positions[0] = needed[0](229, 219, 229) */
		reached[1][219] = 1;
		(trpt+1)->bup.ovals[1] = ((int)now.positions[0]);
		now.positions[0] = ((int)now.needed[0]);
#ifdef VAR_RANGES
		logval("positions[0]", ((int)now.positions[0]));
#endif
		;
		/* merge: positions[1] = needed[1](229, 220, 229) */
		reached[1][220] = 1;
		(trpt+1)->bup.ovals[2] = ((int)now.positions[1]);
		now.positions[1] = ((int)now.needed[1]);
#ifdef VAR_RANGES
		logval("positions[1]", ((int)now.positions[1]));
#endif
		;
		/* merge: failed = 0(229, 221, 229) */
		reached[1][221] = 1;
		(trpt+1)->bup.ovals[3] = ((int)((P1 *)_this)->failed);
		((P1 *)_this)->failed = 0;
#ifdef VAR_RANGES
		logval("Drain:failed", ((int)((P1 *)_this)->failed));
#endif
		;
		/* merge: .(goto)(0, 228, 229) */
		reached[1][228] = 1;
		;
		_m = 3; goto P999; /* 4 */
	case 80: // STATE 224 - lanes.pml:217 - [lost = (lost|pending)] (0:229:2 - 1)
		IfNotBlocked
		reached[1][224] = 1;
		(trpt+1)->bup.ovals = grab_ints(2);
		(trpt+1)->bup.ovals[0] = now.lost;
		now.lost = (now.lost|now.pending);
#ifdef VAR_RANGES
		logval("lost", now.lost);
#endif
		;
		/* merge: failed = 1(229, 225, 229) */
		reached[1][225] = 1;
		(trpt+1)->bup.ovals[1] = ((int)((P1 *)_this)->failed);
		((P1 *)_this)->failed = 1;
#ifdef VAR_RANGES
		logval("Drain:failed", ((int)((P1 *)_this)->failed));
#endif
		;
		/* merge: .(goto)(0, 228, 229) */
		reached[1][228] = 1;
		;
		_m = 3; goto P999; /* 2 */
	case 81: // STATE 229 - lanes.pml:219 - [pending = 0] (0:0:1 - 3)
		IfNotBlocked
		reached[1][229] = 1;
		(trpt+1)->bup.oval = now.pending;
		now.pending = 0;
#ifdef VAR_RANGES
		logval("pending", now.pending);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 82: // STATE 230 - lanes.pml:220 - [((failed||1))] (0:0:1 - 1)
		IfNotBlocked
		reached[1][230] = 1;
		if (!((((int)((P1 *)_this)->failed)||1)))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: failed */  (trpt+1)->bup.oval = ((P1 *)_this)->failed;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P1 *)_this)->failed = 0;
		_m = 3; goto P999; /* 0 */
	case 83: // STATE 231 - lanes.pml:175 - [chunk = (chunk+1)] (0:0:1 - 1)
		IfNotBlocked
		reached[1][231] = 1;
		(trpt+1)->bup.oval = ((int)now.chunk);
		now.chunk = (((int)now.chunk)+1);
#ifdef VAR_RANGES
		logval("chunk", ((int)now.chunk));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 84: // STATE 232 - lanes.pml:178 - [((((under_way[0]==0)||(under_way[0]==epoch))&&((under_way[1]==0)||(under_way[1]==epoch))))] (251:0:3 - 1)
		IfNotBlocked
		reached[1][232] = 1;
		if (!((((((int)now.under_way[0])==0)||(((int)now.under_way[0])==((int)now.epoch)))&&((((int)now.under_way[1])==0)||(((int)now.under_way[1])==((int)now.epoch))))))
			continue;
		/* merge: defined_before = defined_now(251, 233, 251) */
		reached[1][233] = 1;
		(trpt+1)->bup.ovals = grab_ints(3);
		(trpt+1)->bup.ovals[0] = ((int)now.defined_before);
		now.defined_before = ((int)now.defined_now);
#ifdef VAR_RANGES
		logval("defined_before", ((int)now.defined_before));
#endif
		;
		/* merge: .(goto)(251, 237, 251) */
		reached[1][237] = 1;
		;
		/* merge: defined_now = 0(251, 238, 251) */
		reached[1][238] = 1;
		(trpt+1)->bup.ovals[1] = ((int)now.defined_now);
		now.defined_now = 0;
#ifdef VAR_RANGES
		logval("defined_now", ((int)now.defined_now));
#endif
		;
		/* merge: announced_in_block = 0(251, 239, 251) */
		reached[1][239] = 1;
		(trpt+1)->bup.ovals[2] = ((int)now.announced_in_block);
		now.announced_in_block = 0;
#ifdef VAR_RANGES
		logval("announced_in_block", ((int)now.announced_in_block));
#endif
		;
		_m = 3; goto P999; /* 4 */
	case 85: // STATE 235 - lanes.pml:180 - [defined_before = (defined_before||defined_now)] (0:251:3 - 1)
		IfNotBlocked
		reached[1][235] = 1;
		(trpt+1)->bup.ovals = grab_ints(3);
		(trpt+1)->bup.ovals[0] = ((int)now.defined_before);
		now.defined_before = (((int)now.defined_before)||((int)now.defined_now));
#ifdef VAR_RANGES
		logval("defined_before", ((int)now.defined_before));
#endif
		;
		/* merge: .(goto)(251, 237, 251) */
		reached[1][237] = 1;
		;
		/* merge: defined_now = 0(251, 238, 251) */
		reached[1][238] = 1;
		(trpt+1)->bup.ovals[1] = ((int)now.defined_now);
		now.defined_now = 0;
#ifdef VAR_RANGES
		logval("defined_now", ((int)now.defined_now));
#endif
		;
		/* merge: announced_in_block = 0(251, 239, 251) */
		reached[1][239] = 1;
		(trpt+1)->bup.ovals[2] = ((int)now.announced_in_block);
		now.announced_in_block = 0;
#ifdef VAR_RANGES
		logval("announced_in_block", ((int)now.announced_in_block));
#endif
		;
		_m = 3; goto P999; /* 3 */
	case 86: // STATE 238 - lanes.pml:182 - [defined_now = 0] (0:251:2 - 3)
		IfNotBlocked
		reached[1][238] = 1;
		(trpt+1)->bup.ovals = grab_ints(2);
		(trpt+1)->bup.ovals[0] = ((int)now.defined_now);
		now.defined_now = 0;
#ifdef VAR_RANGES
		logval("defined_now", ((int)now.defined_now));
#endif
		;
		/* merge: announced_in_block = 0(251, 239, 251) */
		reached[1][239] = 1;
		(trpt+1)->bup.ovals[1] = ((int)now.announced_in_block);
		now.announced_in_block = 0;
#ifdef VAR_RANGES
		logval("announced_in_block", ((int)now.announced_in_block));
#endif
		;
		_m = 3; goto P999; /* 1 */
	case 87: // STATE 240 - lanes.pml:183 - [((held!=0))] (0:0:0 - 1)
		IfNotBlocked
		reached[1][240] = 1;
		if (!((now.held!=0)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 88: // STATE 241 - lanes.pml:149 - [((!(defined_now)&&defined_before))] (254:0:2 - 1)
		IfNotBlocked
		reached[1][241] = 1;
		if (!(( !(((int)now.defined_now))&&((int)now.defined_before))))
			continue;
		/* merge: defined_now = 1(254, 242, 254) */
		reached[1][242] = 1;
		(trpt+1)->bup.ovals = grab_ints(2);
		(trpt+1)->bup.ovals[0] = ((int)now.defined_now);
		now.defined_now = 1;
#ifdef VAR_RANGES
		logval("defined_now", ((int)now.defined_now));
#endif
		;
		/* merge: announced_in_block = 1(254, 243, 254) */
		reached[1][243] = 1;
		(trpt+1)->bup.ovals[1] = ((int)now.announced_in_block);
		now.announced_in_block = 1;
#ifdef VAR_RANGES
		logval("announced_in_block", ((int)now.announced_in_block));
#endif
		;
		/* merge: .(goto)(254, 247, 254) */
		reached[1][247] = 1;
		;
		/* merge: .(goto)(254, 252, 254) */
		reached[1][252] = 1;
		;
		_m = 3; goto P999; /* 4 */
	case 89: // STATE 247 - lanes.pml:152 - [.(goto)] (0:254:0 - 2)
		IfNotBlocked
		reached[1][247] = 1;
		;
		/* merge: .(goto)(254, 252, 254) */
		reached[1][252] = 1;
		;
		_m = 3; goto P999; /* 1 */
	case 90: // STATE 245 - lanes.pml:150 - [(1)] (254:0:0 - 1)
		IfNotBlocked
		reached[1][245] = 1;
		if (!(1))
			continue;
		/* merge: .(goto)(254, 247, 254) */
		reached[1][247] = 1;
		;
		/* merge: .(goto)(254, 252, 254) */
		reached[1][252] = 1;
		;
		_m = 3; goto P999; /* 2 */
	case 91: // STATE 252 - lanes.pml:184 - [.(goto)] (0:254:0 - 2)
		IfNotBlocked
		reached[1][252] = 1;
		;
		_m = 3; goto P999; /* 0 */
	case 92: // STATE 250 - lanes.pml:183 - [(1)] (254:0:0 - 1)
		IfNotBlocked
		reached[1][250] = 1;
		if (!(1))
			continue;
		/* merge: .(goto)(254, 252, 254) */
		reached[1][252] = 1;
		;
		_m = 3; goto P999; /* 1 */
	case 93: // STATE 254 - lanes.pml:185 - [epoch = (epoch+1)] (0:0:1 - 1)
		IfNotBlocked
		reached[1][254] = 1;
		(trpt+1)->bup.oval = ((int)now.epoch);
		now.epoch = (((int)now.epoch)+1);
#ifdef VAR_RANGES
		logval("epoch", ((int)now.epoch));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 94: // STATE 260 - lanes.pml:221 - [tail[0] = needed[0]] (0:0:1 - 3)
		IfNotBlocked
		reached[1][260] = 1;
		(trpt+1)->bup.oval = ((int)now.tail[0]);
		now.tail[0] = ((int)now.needed[0]);
#ifdef VAR_RANGES
		logval("tail[0]", ((int)now.tail[0]));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 95: // STATE 261 - lanes.pml:222 - [tail[1] = needed[1]] (0:0:1 - 1)
		IfNotBlocked
		reached[1][261] = 1;
		(trpt+1)->bup.oval = ((int)now.tail[1]);
		now.tail[1] = ((int)now.needed[1]);
#ifdef VAR_RANGES
		logval("tail[1]", ((int)now.tail[1]));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 96: // STATE 265 - lanes.pml:241 - [block = (block+1)] (0:268:1 - 3)
		IfNotBlocked
		reached[1][265] = 1;
		(trpt+1)->bup.oval = ((int)((P1 *)_this)->block);
		((P1 *)_this)->block = (((int)((P1 *)_this)->block)+1);
#ifdef VAR_RANGES
		logval("Drain:block", ((int)((P1 *)_this)->block));
#endif
		;
		/* merge: .(goto)(0, 269, 268) */
		reached[1][269] = 1;
		;
		_m = 3; goto P999; /* 1 */
	case 97: // STATE 271 - lanes.pml:245 - [((live_writers==0))] (0:0:0 - 3)
		IfNotBlocked
		reached[1][271] = 1;
		if (!((((int)now.live_writers)==0)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 98: // STATE 272 - lanes.pml:121 - [d_lane = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[1][272] = 1;
		(trpt+1)->bup.oval = ((int)((P1 *)_this)->d_lane);
		((P1 *)_this)->d_lane = 0;
#ifdef VAR_RANGES
		logval("Drain:d_lane", ((int)((P1 *)_this)->d_lane));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 99: // STATE 273 - lanes.pml:123 - [((d_lane<2))] (0:0:0 - 1)
		IfNotBlocked
		reached[1][273] = 1;
		if (!((((int)((P1 *)_this)->d_lane)<2)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 100: // STATE 274 - lanes.pml:124 - [d_head = head[d_lane]] (0:0:1 - 1)
		IfNotBlocked
		reached[1][274] = 1;
		(trpt+1)->bup.oval = ((int)((P1 *)_this)->d_head);
		((P1 *)_this)->d_head = ((int)now.head[ Index(((int)((P1 *)_this)->d_lane), 2) ]);
#ifdef VAR_RANGES
		logval("Drain:d_head", ((int)((P1 *)_this)->d_head));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 101: // STATE 275 - lanes.pml:127 - [((scanned[d_lane]<d_head))] (294:0:1 - 1)
		IfNotBlocked
		reached[1][275] = 1;
		if (!((((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ])<((int)((P1 *)_this)->d_head))))
			continue;
		/* merge: r = slots[((d_lane*4)+(scanned[d_lane]%4))](0, 276, 294) */
		reached[1][276] = 1;
		(trpt+1)->bup.oval = ((int)((P1 *)_this)->r);
		((P1 *)_this)->r = ((int)now.slots[ Index(((((int)((P1 *)_this)->d_lane)*4)+(((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ])%4)), 8) ]);
#ifdef VAR_RANGES
		logval("Drain:r", ((int)((P1 *)_this)->r));
#endif
		;
		_m = 3; goto P999; /* 1 */
	case 102: // STATE 277 - lanes.pml:130 - [((r==15))] (0:0:1 - 1)
		IfNotBlocked
		reached[1][277] = 1;
		if (!((((int)((P1 *)_this)->r)==15)))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: r */  (trpt+1)->bup.oval = ((P1 *)_this)->r;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P1 *)_this)->r = 0;
		_m = 3; goto P999; /* 0 */
	case 103: // STATE 278 - lanes.pml:130 - [(!(defined_now))] (299:0:3 - 1)
		IfNotBlocked
		reached[1][278] = 1;
		if (!( !(((int)now.defined_now))))
			continue;
		/* merge: defined_now = 1(299, 279, 299) */
		reached[1][279] = 1;
		(trpt+1)->bup.ovals = grab_ints(3);
		(trpt+1)->bup.ovals[0] = ((int)now.defined_now);
		now.defined_now = 1;
#ifdef VAR_RANGES
		logval("defined_now", ((int)now.defined_now));
#endif
		;
		/* merge: announced_in_block = 1(299, 280, 299) */
		reached[1][280] = 1;
		(trpt+1)->bup.ovals[1] = ((int)now.announced_in_block);
		now.announced_in_block = 1;
#ifdef VAR_RANGES
		logval("announced_in_block", ((int)now.announced_in_block));
#endif
		;
		/* merge: .(goto)(299, 283, 299) */
		reached[1][283] = 1;
		;
		/* merge: .(goto)(299, 295, 299) */
		reached[1][295] = 1;
		;
		/* merge: scanned[d_lane] = (scanned[d_lane]+1)(299, 296, 299) */
		reached[1][296] = 1;
		(trpt+1)->bup.ovals[2] = ((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ]);
		now.scanned[ Index(((P1 *)_this)->d_lane, 2) ] = (((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ])+1);
#ifdef VAR_RANGES
		logval("scanned[Drain:d_lane]", ((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ]));
#endif
		;
		/* merge: .(goto)(0, 300, 299) */
		reached[1][300] = 1;
		;
		_m = 3; goto P999; /* 6 */
	case 104: // STATE 285 - lanes.pml:133 - [((last[d_lane]<255))] (299:0:5 - 1)
		IfNotBlocked
		reached[1][285] = 1;
		if (!((((int)((P1 *)_this)->last[ Index(((int)((P1 *)_this)->d_lane), 2) ])<255)))
			continue;
		/* merge: assert((born[last[d_lane]]<=born[r]))(299, 286, 299) */
		reached[1][286] = 1;
		spin_assert((((int)now.born[ Index(((int)((P1 *)_this)->last[ Index(((int)((P1 *)_this)->d_lane), 2) ]), 2) ])<=((int)now.born[ Index(((int)((P1 *)_this)->r), 2) ])), "(born[last[d_lane]]<=born[r])", II, tt, t);
		/* merge: .(goto)(299, 289, 299) */
		reached[1][289] = 1;
		;
		/* merge: last[d_lane] = r(299, 290, 299) */
		reached[1][290] = 1;
		(trpt+1)->bup.ovals = grab_ints(5);
		(trpt+1)->bup.ovals[0] = ((int)((P1 *)_this)->last[ Index(((int)((P1 *)_this)->d_lane), 2) ]);
		((P1 *)_this)->last[ Index(((P1 *)_this)->d_lane, 2) ] = ((int)((P1 *)_this)->r);
#ifdef VAR_RANGES
		logval("Drain:last[Drain:d_lane]", ((int)((P1 *)_this)->last[ Index(((int)((P1 *)_this)->d_lane), 2) ]));
#endif
		;
		/* merge: held = (held|(1<<r))(299, 291, 299) */
		reached[1][291] = 1;
		(trpt+1)->bup.ovals[1] = now.held;
		now.held = (now.held|(1<<((int)((P1 *)_this)->r)));
#ifdef VAR_RANGES
		logval("held", now.held);
#endif
		;
		/* merge: at[r] = scanned[d_lane](299, 292, 299) */
		reached[1][292] = 1;
		(trpt+1)->bup.ovals[2] = ((int)now.at[ Index(((int)((P1 *)_this)->r), 2) ]);
		now.at[ Index(((P1 *)_this)->r, 2) ] = ((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ]);
#ifdef VAR_RANGES
		logval("at[Drain:r]", ((int)now.at[ Index(((int)((P1 *)_this)->r), 2) ]));
#endif
		;
		/* merge: where[r] = d_lane(299, 293, 299) */
		reached[1][293] = 1;
		(trpt+1)->bup.ovals[3] = ((int)now.where[ Index(((int)((P1 *)_this)->r), 2) ]);
		now.where[ Index(((P1 *)_this)->r, 2) ] = ((int)((P1 *)_this)->d_lane);
#ifdef VAR_RANGES
		logval("where[Drain:r]", ((int)now.where[ Index(((int)((P1 *)_this)->r), 2) ]));
#endif
		;
		/* merge: .(goto)(299, 295, 299) */
		reached[1][295] = 1;
		;
		/* merge: scanned[d_lane] = (scanned[d_lane]+1)(299, 296, 299) */
		reached[1][296] = 1;
		(trpt+1)->bup.ovals[4] = ((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ]);
		now.scanned[ Index(((P1 *)_this)->d_lane, 2) ] = (((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ])+1);
#ifdef VAR_RANGES
		logval("scanned[Drain:d_lane]", ((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ]));
#endif
		;
		/* merge: .(goto)(0, 300, 299) */
		reached[1][300] = 1;
		;
		_m = 3; goto P999; /* 9 */
	case 105: // STATE 290 - lanes.pml:134 - [last[d_lane] = r] (0:299:5 - 3)
		IfNotBlocked
		reached[1][290] = 1;
		(trpt+1)->bup.ovals = grab_ints(5);
		(trpt+1)->bup.ovals[0] = ((int)((P1 *)_this)->last[ Index(((int)((P1 *)_this)->d_lane), 2) ]);
		((P1 *)_this)->last[ Index(((P1 *)_this)->d_lane, 2) ] = ((int)((P1 *)_this)->r);
#ifdef VAR_RANGES
		logval("Drain:last[Drain:d_lane]", ((int)((P1 *)_this)->last[ Index(((int)((P1 *)_this)->d_lane), 2) ]));
#endif
		;
		/* merge: held = (held|(1<<r))(299, 291, 299) */
		reached[1][291] = 1;
		(trpt+1)->bup.ovals[1] = now.held;
		now.held = (now.held|(1<<((int)((P1 *)_this)->r)));
#ifdef VAR_RANGES
		logval("held", now.held);
#endif
		;
		/* merge: at[r] = scanned[d_lane](299, 292, 299) */
		reached[1][292] = 1;
		(trpt+1)->bup.ovals[2] = ((int)now.at[ Index(((int)((P1 *)_this)->r), 2) ]);
		now.at[ Index(((P1 *)_this)->r, 2) ] = ((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ]);
#ifdef VAR_RANGES
		logval("at[Drain:r]", ((int)now.at[ Index(((int)((P1 *)_this)->r), 2) ]));
#endif
		;
		/* merge: where[r] = d_lane(299, 293, 299) */
		reached[1][293] = 1;
		(trpt+1)->bup.ovals[3] = ((int)now.where[ Index(((int)((P1 *)_this)->r), 2) ]);
		now.where[ Index(((P1 *)_this)->r, 2) ] = ((int)((P1 *)_this)->d_lane);
#ifdef VAR_RANGES
		logval("where[Drain:r]", ((int)now.where[ Index(((int)((P1 *)_this)->r), 2) ]));
#endif
		;
		/* merge: .(goto)(299, 295, 299) */
		reached[1][295] = 1;
		;
		/* merge: scanned[d_lane] = (scanned[d_lane]+1)(299, 296, 299) */
		reached[1][296] = 1;
		(trpt+1)->bup.ovals[4] = ((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ]);
		now.scanned[ Index(((P1 *)_this)->d_lane, 2) ] = (((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ])+1);
#ifdef VAR_RANGES
		logval("scanned[Drain:d_lane]", ((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ]));
#endif
		;
		/* merge: .(goto)(0, 300, 299) */
		reached[1][300] = 1;
		;
		_m = 3; goto P999; /* 6 */
	case 106: // STATE 296 - lanes.pml:137 - [scanned[d_lane] = (scanned[d_lane]+1)] (0:299:1 - 5)
		IfNotBlocked
		reached[1][296] = 1;
		(trpt+1)->bup.oval = ((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ]);
		now.scanned[ Index(((P1 *)_this)->d_lane, 2) ] = (((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ])+1);
#ifdef VAR_RANGES
		logval("scanned[Drain:d_lane]", ((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ]));
#endif
		;
		/* merge: .(goto)(0, 300, 299) */
		reached[1][300] = 1;
		;
		_m = 3; goto P999; /* 1 */
	case 107: // STATE 303 - lanes.pml:141 - [d_lane = (d_lane+1)] (0:0:1 - 1)
		IfNotBlocked
		reached[1][303] = 1;
		(trpt+1)->bup.oval = ((int)((P1 *)_this)->d_lane);
		((P1 *)_this)->d_lane = (((int)((P1 *)_this)->d_lane)+1);
#ifdef VAR_RANGES
		logval("Drain:d_lane", ((int)((P1 *)_this)->d_lane));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 108: // STATE 310 - lanes.pml:156 - [r = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[1][310] = 1;
		(trpt+1)->bup.oval = ((int)((P1 *)_this)->r);
		((P1 *)_this)->r = 0;
#ifdef VAR_RANGES
		logval("Drain:r", ((int)((P1 *)_this)->r));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 109: // STATE 311 - lanes.pml:158 - [((r<(2*1)))] (0:0:0 - 1)
		IfNotBlocked
		reached[1][311] = 1;
		if (!((((int)((P1 *)_this)->r)<(2*1))))
			continue;
		_m = 3; goto P999; /* 0 */
	case 110: // STATE 312 - lanes.pml:160 - [(((held&(1<<r))&&(1||(born[r]<interval))))] (0:0:0 - 1)
		IfNotBlocked
		reached[1][312] = 1;
		if (!(((now.held&(1<<((int)((P1 *)_this)->r)))&&(1||(((int)now.born[ Index(((int)((P1 *)_this)->r), 2) ])<((int)now.interval))))))
			continue;
		_m = 3; goto P999; /* 0 */
	case 111: // STATE 313 - lanes.pml:149 - [((!(defined_now)&&defined_before))] (331:0:5 - 1)
		IfNotBlocked
		reached[1][313] = 1;
		if (!(( !(((int)now.defined_now))&&((int)now.defined_before))))
			continue;
		/* merge: defined_now = 1(331, 314, 331) */
		reached[1][314] = 1;
		(trpt+1)->bup.ovals = grab_ints(5);
		(trpt+1)->bup.ovals[0] = ((int)now.defined_now);
		now.defined_now = 1;
#ifdef VAR_RANGES
		logval("defined_now", ((int)now.defined_now));
#endif
		;
		/* merge: announced_in_block = 1(331, 315, 331) */
		reached[1][315] = 1;
		(trpt+1)->bup.ovals[1] = ((int)now.announced_in_block);
		now.announced_in_block = 1;
#ifdef VAR_RANGES
		logval("announced_in_block", ((int)now.announced_in_block));
#endif
		;
		/* merge: .(goto)(331, 319, 331) */
		reached[1][319] = 1;
		;
		/* merge: assert(defined_now)(331, 321, 331) */
		reached[1][321] = 1;
		spin_assert(((int)now.defined_now), "defined_now", II, tt, t);
		/* merge: held = (held&~((1<<r)))(331, 322, 331) */
		reached[1][322] = 1;
		(trpt+1)->bup.ovals[2] = now.held;
		now.held = (now.held& ~((1<<((int)((P1 *)_this)->r))));
#ifdef VAR_RANGES
		logval("held", now.held);
#endif
		;
		/* merge: pending = (pending|(1<<r))(331, 323, 331) */
		reached[1][323] = 1;
		(trpt+1)->bup.ovals[3] = now.pending;
		now.pending = (now.pending|(1<<((int)((P1 *)_this)->r)));
#ifdef VAR_RANGES
		logval("pending", now.pending);
#endif
		;
		/* merge: .(goto)(331, 327, 331) */
		reached[1][327] = 1;
		;
		/* merge: r = (r+1)(331, 328, 331) */
		reached[1][328] = 1;
		(trpt+1)->bup.ovals[4] = ((int)((P1 *)_this)->r);
		((P1 *)_this)->r = (((int)((P1 *)_this)->r)+1);
#ifdef VAR_RANGES
		logval("Drain:r", ((int)((P1 *)_this)->r));
#endif
		;
		/* merge: .(goto)(0, 332, 331) */
		reached[1][332] = 1;
		;
		_m = 3; goto P999; /* 9 */
	case 112: // STATE 317 - lanes.pml:150 - [(1)] (331:0:3 - 1)
		IfNotBlocked
		reached[1][317] = 1;
		if (!(1))
			continue;
		/* merge: .(goto)(331, 319, 331) */
		reached[1][319] = 1;
		;
		/* merge: assert(defined_now)(331, 321, 331) */
		reached[1][321] = 1;
		spin_assert(((int)now.defined_now), "defined_now", II, tt, t);
		/* merge: held = (held&~((1<<r)))(331, 322, 331) */
		reached[1][322] = 1;
		(trpt+1)->bup.ovals = grab_ints(3);
		(trpt+1)->bup.ovals[0] = now.held;
		now.held = (now.held& ~((1<<((int)((P1 *)_this)->r))));
#ifdef VAR_RANGES
		logval("held", now.held);
#endif
		;
		/* merge: pending = (pending|(1<<r))(331, 323, 331) */
		reached[1][323] = 1;
		(trpt+1)->bup.ovals[1] = now.pending;
		now.pending = (now.pending|(1<<((int)((P1 *)_this)->r)));
#ifdef VAR_RANGES
		logval("pending", now.pending);
#endif
		;
		/* merge: .(goto)(331, 327, 331) */
		reached[1][327] = 1;
		;
		/* merge: r = (r+1)(331, 328, 331) */
		reached[1][328] = 1;
		(trpt+1)->bup.ovals[2] = ((int)((P1 *)_this)->r);
		((P1 *)_this)->r = (((int)((P1 *)_this)->r)+1);
#ifdef VAR_RANGES
		logval("Drain:r", ((int)((P1 *)_this)->r));
#endif
		;
		/* merge: .(goto)(0, 332, 331) */
		reached[1][332] = 1;
		;
		_m = 3; goto P999; /* 7 */
	case 113: // STATE 321 - lanes.pml:162 - [assert(defined_now)] (0:331:3 - 3)
		IfNotBlocked
		reached[1][321] = 1;
		spin_assert(((int)now.defined_now), "defined_now", II, tt, t);
		/* merge: held = (held&~((1<<r)))(331, 322, 331) */
		reached[1][322] = 1;
		(trpt+1)->bup.ovals = grab_ints(3);
		(trpt+1)->bup.ovals[0] = now.held;
		now.held = (now.held& ~((1<<((int)((P1 *)_this)->r))));
#ifdef VAR_RANGES
		logval("held", now.held);
#endif
		;
		/* merge: pending = (pending|(1<<r))(331, 323, 331) */
		reached[1][323] = 1;
		(trpt+1)->bup.ovals[1] = now.pending;
		now.pending = (now.pending|(1<<((int)((P1 *)_this)->r)));
#ifdef VAR_RANGES
		logval("pending", now.pending);
#endif
		;
		/* merge: .(goto)(331, 327, 331) */
		reached[1][327] = 1;
		;
		/* merge: r = (r+1)(331, 328, 331) */
		reached[1][328] = 1;
		(trpt+1)->bup.ovals[2] = ((int)((P1 *)_this)->r);
		((P1 *)_this)->r = (((int)((P1 *)_this)->r)+1);
#ifdef VAR_RANGES
		logval("Drain:r", ((int)((P1 *)_this)->r));
#endif
		;
		/* merge: .(goto)(0, 332, 331) */
		reached[1][332] = 1;
		;
		_m = 3; goto P999; /* 5 */
	case 114: // STATE 325 - lanes.pml:165 - [(1)] (331:0:1 - 1)
		IfNotBlocked
		reached[1][325] = 1;
		if (!(1))
			continue;
		/* merge: .(goto)(331, 327, 331) */
		reached[1][327] = 1;
		;
		/* merge: r = (r+1)(331, 328, 331) */
		reached[1][328] = 1;
		(trpt+1)->bup.oval = ((int)((P1 *)_this)->r);
		((P1 *)_this)->r = (((int)((P1 *)_this)->r)+1);
#ifdef VAR_RANGES
		logval("Drain:r", ((int)((P1 *)_this)->r));
#endif
		;
		/* merge: .(goto)(0, 332, 331) */
		reached[1][332] = 1;
		;
		_m = 3; goto P999; /* 3 */
	case 115: // STATE 328 - lanes.pml:167 - [r = (r+1)] (0:331:1 - 3)
		IfNotBlocked
		reached[1][328] = 1;
		(trpt+1)->bup.oval = ((int)((P1 *)_this)->r);
		((P1 *)_this)->r = (((int)((P1 *)_this)->r)+1);
#ifdef VAR_RANGES
		logval("Drain:r", ((int)((P1 *)_this)->r));
#endif
		;
		/* merge: .(goto)(0, 332, 331) */
		reached[1][332] = 1;
		;
		_m = 3; goto P999; /* 1 */
	case 116: // STATE 336 - lanes.pml:190 - [d_lane = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[1][336] = 1;
		(trpt+1)->bup.oval = ((int)((P1 *)_this)->d_lane);
		((P1 *)_this)->d_lane = 0;
#ifdef VAR_RANGES
		logval("Drain:d_lane", ((int)((P1 *)_this)->d_lane));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 117: // STATE 337 - lanes.pml:192 - [((d_lane<2))] (350:0:2 - 1)
		IfNotBlocked
		reached[1][337] = 1;
		if (!((((int)((P1 *)_this)->d_lane)<2)))
			continue;
		/* merge: needed[d_lane] = scanned[d_lane](350, 338, 350) */
		reached[1][338] = 1;
		(trpt+1)->bup.ovals = grab_ints(2);
		(trpt+1)->bup.ovals[0] = ((int)now.needed[ Index(((int)((P1 *)_this)->d_lane), 2) ]);
		now.needed[ Index(((P1 *)_this)->d_lane, 2) ] = ((int)now.scanned[ Index(((int)((P1 *)_this)->d_lane), 2) ]);
#ifdef VAR_RANGES
		logval("needed[Drain:d_lane]", ((int)now.needed[ Index(((int)((P1 *)_this)->d_lane), 2) ]));
#endif
		;
		/* merge: r = 0(350, 339, 350) */
		reached[1][339] = 1;
		(trpt+1)->bup.ovals[1] = ((int)((P1 *)_this)->r);
		((P1 *)_this)->r = 0;
#ifdef VAR_RANGES
		logval("Drain:r", ((int)((P1 *)_this)->r));
#endif
		;
		/* merge: .(goto)(0, 351, 350) */
		reached[1][351] = 1;
		;
		_m = 3; goto P999; /* 3 */
	case 118: // STATE 340 - lanes.pml:196 - [((r<(2*1)))] (0:0:0 - 1)
		IfNotBlocked
		reached[1][340] = 1;
		if (!((((int)((P1 *)_this)->r)<(2*1))))
			continue;
		_m = 3; goto P999; /* 0 */
	case 119: // STATE 341 - lanes.pml:198 - [((((held&(1<<r))&&(where[r]==d_lane))&&(at[r]<needed[d_lane])))] (350:0:2 - 1)
		IfNotBlocked
		reached[1][341] = 1;
		if (!((((now.held&(1<<((int)((P1 *)_this)->r)))&&(((int)now.where[ Index(((int)((P1 *)_this)->r), 2) ])==((int)((P1 *)_this)->d_lane)))&&(((int)now.at[ Index(((int)((P1 *)_this)->r), 2) ])<((int)now.needed[ Index(((int)((P1 *)_this)->d_lane), 2) ])))))
			continue;
		/* merge: needed[d_lane] = at[r](350, 342, 350) */
		reached[1][342] = 1;
		(trpt+1)->bup.ovals = grab_ints(2);
		(trpt+1)->bup.ovals[0] = ((int)now.needed[ Index(((int)((P1 *)_this)->d_lane), 2) ]);
		now.needed[ Index(((P1 *)_this)->d_lane, 2) ] = ((int)now.at[ Index(((int)((P1 *)_this)->r), 2) ]);
#ifdef VAR_RANGES
		logval("needed[Drain:d_lane]", ((int)now.needed[ Index(((int)((P1 *)_this)->d_lane), 2) ]));
#endif
		;
		/* merge: .(goto)(350, 346, 350) */
		reached[1][346] = 1;
		;
		/* merge: r = (r+1)(350, 347, 350) */
		reached[1][347] = 1;
		(trpt+1)->bup.ovals[1] = ((int)((P1 *)_this)->r);
		((P1 *)_this)->r = (((int)((P1 *)_this)->r)+1);
#ifdef VAR_RANGES
		logval("Drain:r", ((int)((P1 *)_this)->r));
#endif
		;
		/* merge: .(goto)(0, 351, 350) */
		reached[1][351] = 1;
		;
		_m = 3; goto P999; /* 4 */
	case 120: // STATE 344 - lanes.pml:199 - [(1)] (350:0:1 - 1)
		IfNotBlocked
		reached[1][344] = 1;
		if (!(1))
			continue;
		/* merge: .(goto)(350, 346, 350) */
		reached[1][346] = 1;
		;
		/* merge: r = (r+1)(350, 347, 350) */
		reached[1][347] = 1;
		(trpt+1)->bup.oval = ((int)((P1 *)_this)->r);
		((P1 *)_this)->r = (((int)((P1 *)_this)->r)+1);
#ifdef VAR_RANGES
		logval("Drain:r", ((int)((P1 *)_this)->r));
#endif
		;
		/* merge: .(goto)(0, 351, 350) */
		reached[1][351] = 1;
		;
		_m = 3; goto P999; /* 3 */
	case 121: // STATE 347 - lanes.pml:201 - [r = (r+1)] (0:350:1 - 3)
		IfNotBlocked
		reached[1][347] = 1;
		(trpt+1)->bup.oval = ((int)((P1 *)_this)->r);
		((P1 *)_this)->r = (((int)((P1 *)_this)->r)+1);
#ifdef VAR_RANGES
		logval("Drain:r", ((int)((P1 *)_this)->r));
#endif
		;
		/* merge: .(goto)(0, 351, 350) */
		reached[1][351] = 1;
		;
		_m = 3; goto P999; /* 1 */
	case 122: // STATE 353 - lanes.pml:204 - [d_lane = (d_lane+1)] (0:356:1 - 3)
		IfNotBlocked
		reached[1][353] = 1;
		(trpt+1)->bup.oval = ((int)((P1 *)_this)->d_lane);
		((P1 *)_this)->d_lane = (((int)((P1 *)_this)->d_lane)+1);
#ifdef VAR_RANGES
		logval("Drain:d_lane", ((int)((P1 *)_this)->d_lane));
#endif
		;
		/* merge: .(goto)(0, 357, 356) */
		reached[1][357] = 1;
		;
		_m = 3; goto P999; /* 1 */
	case 123: // STATE 360 - lanes.pml:211 - [in_file = (in_file|pending)] (0:0:1 - 1)
		IfNotBlocked
		reached[1][360] = 1;
		(trpt+1)->bup.oval = now.in_file;
		now.in_file = (now.in_file|now.pending);
#ifdef VAR_RANGES
		logval("in_file", now.in_file);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 124: // STATE 361 - lanes.pml:212 - [(announced_in_block)] (378:0:5 - 1)
		IfNotBlocked
		reached[1][361] = 1;
		if (!(((int)now.announced_in_block)))
			continue;
		/* merge: defined_in_file = (defined_in_file|(1<<chunk))(378, 362, 378) */
		reached[1][362] = 1;
		(trpt+1)->bup.ovals = grab_ints(5);
		(trpt+1)->bup.ovals[0] = ((int)now.defined_in_file);
		now.defined_in_file = (((int)now.defined_in_file)|(1<<((int)now.chunk)));
#ifdef VAR_RANGES
		logval("defined_in_file", ((int)now.defined_in_file));
#endif
		;
		/* merge: .(goto)(378, 366, 378) */
		reached[1][366] = 1;
		;
		/* merge: announced_in_block = 0(378, 367, 378) */
		reached[1][367] = 1;
		(trpt+1)->bup.ovals[1] = ((int)now.announced_in_block);
		now.announced_in_block = 0;
#ifdef VAR_RANGES
		logval("announced_in_block", ((int)now.announced_in_block));
#endif
		;
		/* merge: positions[0] = needed[0](378, 368, 378) */
		reached[1][368] = 1;
		(trpt+1)->bup.ovals[2] = ((int)now.positions[0]);
		now.positions[0] = ((int)now.needed[0]);
#ifdef VAR_RANGES
		logval("positions[0]", ((int)now.positions[0]));
#endif
		;
		/* merge: positions[1] = needed[1](378, 369, 378) */
		reached[1][369] = 1;
		(trpt+1)->bup.ovals[3] = ((int)now.positions[1]);
		now.positions[1] = ((int)now.needed[1]);
#ifdef VAR_RANGES
		logval("positions[1]", ((int)now.positions[1]));
#endif
		;
		/* merge: failed = 0(378, 370, 378) */
		reached[1][370] = 1;
		(trpt+1)->bup.ovals[4] = ((int)((P1 *)_this)->failed);
		((P1 *)_this)->failed = 0;
#ifdef VAR_RANGES
		logval("Drain:failed", ((int)((P1 *)_this)->failed));
#endif
		;
		/* merge: .(goto)(0, 377, 378) */
		reached[1][377] = 1;
		;
		_m = 3; goto P999; /* 7 */
	case 125: // STATE 364 - lanes.pml:212 - [(1)] (378:0:4 - 1)
		IfNotBlocked
		reached[1][364] = 1;
		if (!(1))
			continue;
		/* merge: .(goto)(378, 366, 378) */
		reached[1][366] = 1;
		;
		/* merge: announced_in_block = 0(378, 367, 378) */
		reached[1][367] = 1;
		(trpt+1)->bup.ovals = grab_ints(4);
		(trpt+1)->bup.ovals[0] = ((int)now.announced_in_block);
		now.announced_in_block = 0;
#ifdef VAR_RANGES
		logval("announced_in_block", ((int)now.announced_in_block));
#endif
		;
		/* merge: positions[0] = needed[0](378, 368, 378) */
		reached[1][368] = 1;
		(trpt+1)->bup.ovals[1] = ((int)now.positions[0]);
		now.positions[0] = ((int)now.needed[0]);
#ifdef VAR_RANGES
		logval("positions[0]", ((int)now.positions[0]));
#endif
		;
		/* merge: positions[1] = needed[1](378, 369, 378) */
		reached[1][369] = 1;
		(trpt+1)->bup.ovals[2] = ((int)now.positions[1]);
		now.positions[1] = ((int)now.needed[1]);
#ifdef VAR_RANGES
		logval("positions[1]", ((int)now.positions[1]));
#endif
		;
		/* merge: failed = 0(378, 370, 378) */
		reached[1][370] = 1;
		(trpt+1)->bup.ovals[3] = ((int)((P1 *)_this)->failed);
		((P1 *)_this)->failed = 0;
#ifdef VAR_RANGES
		logval("Drain:failed", ((int)((P1 *)_this)->failed));
#endif
		;
		/* merge: .(goto)(0, 377, 378) */
		reached[1][377] = 1;
		;
		_m = 3; goto P999; /* 6 */
	case 126: // STATE 367 - lanes.pml:213 - [announced_in_block = 0] (0:378:4 - 3)
		IfNotBlocked
		reached[1][367] = 1;
		(trpt+1)->bup.ovals = grab_ints(4);
		(trpt+1)->bup.ovals[0] = ((int)now.announced_in_block);
		now.announced_in_block = 0;
#ifdef VAR_RANGES
		logval("announced_in_block", ((int)now.announced_in_block));
#endif
		;
		/* merge: positions[0] = needed[0](378, 368, 378) */
		reached[1][368] = 1;
		(trpt+1)->bup.ovals[1] = ((int)now.positions[0]);
		now.positions[0] = ((int)now.needed[0]);
#ifdef VAR_RANGES
		logval("positions[0]", ((int)now.positions[0]));
#endif
		;
		/* merge: positions[1] = needed[1](378, 369, 378) */
		reached[1][369] = 1;
		(trpt+1)->bup.ovals[2] = ((int)now.positions[1]);
		now.positions[1] = ((int)now.needed[1]);
#ifdef VAR_RANGES
		logval("positions[1]", ((int)now.positions[1]));
#endif
		;
		/* merge: failed = 0(378, 370, 378) */
		reached[1][370] = 1;
		(trpt+1)->bup.ovals[3] = ((int)((P1 *)_this)->failed);
		((P1 *)_this)->failed = 0;
#ifdef VAR_RANGES
		logval("Drain:failed", ((int)((P1 *)_this)->failed));
#endif
		;
		/* merge: .(goto)(0, 377, 378) */
		reached[1][377] = 1;
		;
		_m = 3; goto P999; /* 4 */
	case 127: // STATE 373 - lanes.pml:217 - [lost = (lost|pending)] (0:378:2 - 1)
		IfNotBlocked
		reached[1][373] = 1;
		(trpt+1)->bup.ovals = grab_ints(2);
		(trpt+1)->bup.ovals[0] = now.lost;
		now.lost = (now.lost|now.pending);
#ifdef VAR_RANGES
		logval("lost", now.lost);
#endif
		;
		/* merge: failed = 1(378, 374, 378) */
		reached[1][374] = 1;
		(trpt+1)->bup.ovals[1] = ((int)((P1 *)_this)->failed);
		((P1 *)_this)->failed = 1;
#ifdef VAR_RANGES
		logval("Drain:failed", ((int)((P1 *)_this)->failed));
#endif
		;
		/* merge: .(goto)(0, 377, 378) */
		reached[1][377] = 1;
		;
		_m = 3; goto P999; /* 2 */
	case 128: // STATE 378 - lanes.pml:219 - [pending = 0] (0:0:1 - 3)
		IfNotBlocked
		reached[1][378] = 1;
		(trpt+1)->bup.oval = now.pending;
		now.pending = 0;
#ifdef VAR_RANGES
		logval("pending", now.pending);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 129: // STATE 379 - lanes.pml:220 - [((failed||0))] (0:0:1 - 1)
		IfNotBlocked
		reached[1][379] = 1;
		if (!((((int)((P1 *)_this)->failed)||0)))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: failed */  (trpt+1)->bup.oval = ((P1 *)_this)->failed;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P1 *)_this)->failed = 0;
		_m = 3; goto P999; /* 0 */
	case 130: // STATE 380 - lanes.pml:175 - [chunk = (chunk+1)] (0:0:1 - 1)
		IfNotBlocked
		reached[1][380] = 1;
		(trpt+1)->bup.oval = ((int)now.chunk);
		now.chunk = (((int)now.chunk)+1);
#ifdef VAR_RANGES
		logval("chunk", ((int)now.chunk));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 131: // STATE 381 - lanes.pml:178 - [((((under_way[0]==0)||(under_way[0]==epoch))&&((under_way[1]==0)||(under_way[1]==epoch))))] (400:0:3 - 1)
		IfNotBlocked
		reached[1][381] = 1;
		if (!((((((int)now.under_way[0])==0)||(((int)now.under_way[0])==((int)now.epoch)))&&((((int)now.under_way[1])==0)||(((int)now.under_way[1])==((int)now.epoch))))))
			continue;
		/* merge: defined_before = defined_now(400, 382, 400) */
		reached[1][382] = 1;
		(trpt+1)->bup.ovals = grab_ints(3);
		(trpt+1)->bup.ovals[0] = ((int)now.defined_before);
		now.defined_before = ((int)now.defined_now);
#ifdef VAR_RANGES
		logval("defined_before", ((int)now.defined_before));
#endif
		;
		/* merge: .(goto)(400, 386, 400) */
		reached[1][386] = 1;
		;
		/* merge: defined_now = 0(400, 387, 400) */
		reached[1][387] = 1;
		(trpt+1)->bup.ovals[1] = ((int)now.defined_now);
		now.defined_now = 0;
#ifdef VAR_RANGES
		logval("defined_now", ((int)now.defined_now));
#endif
		;
		/* merge: announced_in_block = 0(400, 388, 400) */
		reached[1][388] = 1;
		(trpt+1)->bup.ovals[2] = ((int)now.announced_in_block);
		now.announced_in_block = 0;
#ifdef VAR_RANGES
		logval("announced_in_block", ((int)now.announced_in_block));
#endif
		;
		_m = 3; goto P999; /* 4 */
	case 132: // STATE 384 - lanes.pml:180 - [defined_before = (defined_before||defined_now)] (0:400:3 - 1)
		IfNotBlocked
		reached[1][384] = 1;
		(trpt+1)->bup.ovals = grab_ints(3);
		(trpt+1)->bup.ovals[0] = ((int)now.defined_before);
		now.defined_before = (((int)now.defined_before)||((int)now.defined_now));
#ifdef VAR_RANGES
		logval("defined_before", ((int)now.defined_before));
#endif
		;
		/* merge: .(goto)(400, 386, 400) */
		reached[1][386] = 1;
		;
		/* merge: defined_now = 0(400, 387, 400) */
		reached[1][387] = 1;
		(trpt+1)->bup.ovals[1] = ((int)now.defined_now);
		now.defined_now = 0;
#ifdef VAR_RANGES
		logval("defined_now", ((int)now.defined_now));
#endif
		;
		/* merge: announced_in_block = 0(400, 388, 400) */
		reached[1][388] = 1;
		(trpt+1)->bup.ovals[2] = ((int)now.announced_in_block);
		now.announced_in_block = 0;
#ifdef VAR_RANGES
		logval("announced_in_block", ((int)now.announced_in_block));
#endif
		;
		_m = 3; goto P999; /* 3 */
	case 133: // STATE 387 - lanes.pml:182 - [defined_now = 0] (0:400:2 - 3)
		IfNotBlocked
		reached[1][387] = 1;
		(trpt+1)->bup.ovals = grab_ints(2);
		(trpt+1)->bup.ovals[0] = ((int)now.defined_now);
		now.defined_now = 0;
#ifdef VAR_RANGES
		logval("defined_now", ((int)now.defined_now));
#endif
		;
		/* merge: announced_in_block = 0(400, 388, 400) */
		reached[1][388] = 1;
		(trpt+1)->bup.ovals[1] = ((int)now.announced_in_block);
		now.announced_in_block = 0;
#ifdef VAR_RANGES
		logval("announced_in_block", ((int)now.announced_in_block));
#endif
		;
		_m = 3; goto P999; /* 1 */
	case 134: // STATE 389 - lanes.pml:183 - [((held!=0))] (0:0:0 - 1)
		IfNotBlocked
		reached[1][389] = 1;
		if (!((now.held!=0)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 135: // STATE 390 - lanes.pml:149 - [((!(defined_now)&&defined_before))] (403:0:2 - 1)
		IfNotBlocked
		reached[1][390] = 1;
		if (!(( !(((int)now.defined_now))&&((int)now.defined_before))))
			continue;
		/* merge: defined_now = 1(403, 391, 403) */
		reached[1][391] = 1;
		(trpt+1)->bup.ovals = grab_ints(2);
		(trpt+1)->bup.ovals[0] = ((int)now.defined_now);
		now.defined_now = 1;
#ifdef VAR_RANGES
		logval("defined_now", ((int)now.defined_now));
#endif
		;
		/* merge: announced_in_block = 1(403, 392, 403) */
		reached[1][392] = 1;
		(trpt+1)->bup.ovals[1] = ((int)now.announced_in_block);
		now.announced_in_block = 1;
#ifdef VAR_RANGES
		logval("announced_in_block", ((int)now.announced_in_block));
#endif
		;
		/* merge: .(goto)(403, 396, 403) */
		reached[1][396] = 1;
		;
		/* merge: .(goto)(403, 401, 403) */
		reached[1][401] = 1;
		;
		_m = 3; goto P999; /* 4 */
	case 136: // STATE 396 - lanes.pml:152 - [.(goto)] (0:403:0 - 2)
		IfNotBlocked
		reached[1][396] = 1;
		;
		/* merge: .(goto)(403, 401, 403) */
		reached[1][401] = 1;
		;
		_m = 3; goto P999; /* 1 */
	case 137: // STATE 394 - lanes.pml:150 - [(1)] (403:0:0 - 1)
		IfNotBlocked
		reached[1][394] = 1;
		if (!(1))
			continue;
		/* merge: .(goto)(403, 396, 403) */
		reached[1][396] = 1;
		;
		/* merge: .(goto)(403, 401, 403) */
		reached[1][401] = 1;
		;
		_m = 3; goto P999; /* 2 */
	case 138: // STATE 401 - lanes.pml:184 - [.(goto)] (0:403:0 - 2)
		IfNotBlocked
		reached[1][401] = 1;
		;
		_m = 3; goto P999; /* 0 */
	case 139: // STATE 399 - lanes.pml:183 - [(1)] (403:0:0 - 1)
		IfNotBlocked
		reached[1][399] = 1;
		if (!(1))
			continue;
		/* merge: .(goto)(403, 401, 403) */
		reached[1][401] = 1;
		;
		_m = 3; goto P999; /* 1 */
	case 140: // STATE 403 - lanes.pml:185 - [epoch = (epoch+1)] (0:0:1 - 1)
		IfNotBlocked
		reached[1][403] = 1;
		(trpt+1)->bup.oval = ((int)now.epoch);
		now.epoch = (((int)now.epoch)+1);
#ifdef VAR_RANGES
		logval("epoch", ((int)now.epoch));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 141: // STATE 409 - lanes.pml:221 - [tail[0] = needed[0]] (0:0:1 - 3)
		IfNotBlocked
		reached[1][409] = 1;
		(trpt+1)->bup.oval = ((int)now.tail[0]);
		now.tail[0] = ((int)now.needed[0]);
#ifdef VAR_RANGES
		logval("tail[0]", ((int)now.tail[0]));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 142: // STATE 410 - lanes.pml:222 - [tail[1] = needed[1]] (0:0:1 - 1)
		IfNotBlocked
		reached[1][410] = 1;
		(trpt+1)->bup.oval = ((int)now.tail[1]);
		now.tail[1] = ((int)now.needed[1]);
#ifdef VAR_RANGES
		logval("tail[1]", ((int)now.tail[1]));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 143: // STATE 412 - lanes.pml:249 - [ended = 1] (0:0:1 - 1)
		IfNotBlocked
		reached[1][412] = 1;
		(trpt+1)->bup.oval = ((int)ended);
		ended = 1;
#ifdef VAR_RANGES
		logval("ended", ((int)ended));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 144: // STATE 413 - lanes.pml:250 - [-end-] (0:0:0 - 1)
		IfNotBlocked
		reached[1][413] = 1;
		if (!delproc(1, II)) continue;
		_m = 3; goto P999; /* 0 */

		 /* PROC Writer */
	case 145: // STATE 1 - lanes.pml:78 - [n = 0] (0:0:1 - 1)
		IfNotBlocked
		reached[0][1] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->n);
		((P0 *)_this)->n = 0;
#ifdef VAR_RANGES
		logval("Writer:n", ((int)((P0 *)_this)->n));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 146: // STATE 2 - lanes.pml:80 - [((n<1))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][2] = 1;
		if (!((((int)((P0 *)_this)->n)<1)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 147: // STATE 3 - lanes.pml:81 - [seen = epoch] (0:56:2 - 1)
		IfNotBlocked
		reached[0][3] = 1;
		(trpt+1)->bup.ovals = grab_ints(2);
		(trpt+1)->bup.ovals[0] = ((int)((P0 *)_this)->seen);
		((P0 *)_this)->seen = ((int)now.epoch);
#ifdef VAR_RANGES
		logval("Writer:seen", ((int)((P0 *)_this)->seen));
#endif
		;
		/* merge: under_way[(first/1)] = seen(56, 4, 56) */
		reached[0][4] = 1;
		(trpt+1)->bup.ovals[1] = ((int)now.under_way[ Index((((int)((P0 *)_this)->first)/1), 2) ]);
		now.under_way[ Index((((P0 *)_this)->first/1), 2) ] = ((int)((P0 *)_this)->seen);
#ifdef VAR_RANGES
		logval("under_way[(Writer:first/1)]", ((int)now.under_way[ Index((((int)((P0 *)_this)->first)/1), 2) ]));
#endif
		;
		_m = 3; goto P999; /* 1 */
	case 148: // STATE 6 - lanes.pml:83 - [((announced==seen))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][6] = 1;
		if (!((((int)now.announced)==((int)((P0 *)_this)->seen))))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: seen */  (trpt+1)->bup.oval = ((P0 *)_this)->seen;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P0 *)_this)->seen = 0;
		_m = 3; goto P999; /* 0 */
	case 149: // STATE 9 - lanes.pml:51 - [mine = 2] (0:27:2 - 1)
		IfNotBlocked
		reached[0][9] = 1;
		(trpt+1)->bup.ovals = grab_ints(2);
		(trpt+1)->bup.ovals[0] = ((int)((P0 *)_this)->mine);
		((P0 *)_this)->mine = 2;
#ifdef VAR_RANGES
		logval("Writer:mine", ((int)((P0 *)_this)->mine));
#endif
		;
		/* merge: i = 0(27, 10, 27) */
		reached[0][10] = 1;
		(trpt+1)->bup.ovals[1] = ((int)((P0 *)_this)->i);
		((P0 *)_this)->i = 0;
#ifdef VAR_RANGES
		logval("Writer:i", ((int)((P0 *)_this)->i));
#endif
		;
		/* merge: .(goto)(0, 28, 27) */
		reached[0][28] = 1;
		;
		_m = 3; goto P999; /* 2 */
	case 150: // STATE 11 - lanes.pml:54 - [((i<2))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][11] = 1;
		if (!((((int)((P0 *)_this)->i)<2)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 151: // STATE 12 - lanes.pml:56 - [l = ((_pid+i)%2)] (0:22:2 - 1)
		IfNotBlocked
		reached[0][12] = 1;
		(trpt+1)->bup.ovals = grab_ints(2);
		(trpt+1)->bup.ovals[0] = ((int)((P0 *)_this)->l);
		((P0 *)_this)->l = ((((int)((P0 *)_this)->_pid)+((int)((P0 *)_this)->i))%2);
#ifdef VAR_RANGES
		logval("Writer:l", ((int)((P0 *)_this)->l));
#endif
		;
		/* merge: i = (i+1)(22, 13, 22) */
		reached[0][13] = 1;
		(trpt+1)->bup.ovals[1] = ((int)((P0 *)_this)->i);
		((P0 *)_this)->i = (((int)((P0 *)_this)->i)+1);
#ifdef VAR_RANGES
		logval("Writer:i", ((int)((P0 *)_this)->i));
#endif
		;
		_m = 3; goto P999; /* 1 */
	case 152: // STATE 14 - lanes.pml:59 - [(lease[l])] (0:0:1 - 1)
		IfNotBlocked
		reached[0][14] = 1;
		if (!(((int)now.lease[ Index(((int)((P0 *)_this)->l), 2) ])))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: l */  (trpt+1)->bup.oval = ((P0 *)_this)->l;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P0 *)_this)->l = 0;
		_m = 3; goto P999; /* 0 */
	case 153: // STATE 15 - lanes.pml:59 - [(1)] (27:0:0 - 1)
		IfNotBlocked
		reached[0][15] = 1;
		if (!(1))
			continue;
		/* merge: .(goto)(0, 23, 27) */
		reached[0][23] = 1;
		;
		/* merge: .(goto)(0, 28, 27) */
		reached[0][28] = 1;
		;
		_m = 3; goto P999; /* 2 */
	case 154: // STATE 17 - lanes.pml:60 - [lease[l] = 1] (0:29:3 - 1)
		IfNotBlocked
		reached[0][17] = 1;
		(trpt+1)->bup.ovals = grab_ints(3);
		(trpt+1)->bup.ovals[0] = ((int)now.lease[ Index(((int)((P0 *)_this)->l), 2) ]);
		now.lease[ Index(((P0 *)_this)->l, 2) ] = 1;
#ifdef VAR_RANGES
		logval("lease[Writer:l]", ((int)now.lease[ Index(((int)((P0 *)_this)->l), 2) ]));
#endif
		;
		/* merge: writers_in[l] = (writers_in[l]+1)(29, 18, 29) */
		reached[0][18] = 1;
		(trpt+1)->bup.ovals[1] = ((int)now.writers_in[ Index(((int)((P0 *)_this)->l), 2) ]);
		now.writers_in[ Index(((P0 *)_this)->l, 2) ] = (((int)now.writers_in[ Index(((int)((P0 *)_this)->l), 2) ])+1);
#ifdef VAR_RANGES
		logval("writers_in[Writer:l]", ((int)now.writers_in[ Index(((int)((P0 *)_this)->l), 2) ]));
#endif
		;
		/* merge: assert((writers_in[l]==1))(29, 19, 29) */
		reached[0][19] = 1;
		spin_assert((((int)now.writers_in[ Index(((int)((P0 *)_this)->l), 2) ])==1), "(writers_in[l]==1)", II, tt, t);
		/* merge: mine = l(29, 20, 29) */
		reached[0][20] = 1;
		(trpt+1)->bup.ovals[2] = ((int)((P0 *)_this)->mine);
		((P0 *)_this)->mine = ((int)((P0 *)_this)->l);
#ifdef VAR_RANGES
		logval("Writer:mine", ((int)((P0 *)_this)->mine));
#endif
		;
		/* merge: goto :b1(29, 21, 29) */
		reached[0][21] = 1;
		;
		_m = 3; goto P999; /* 4 */
	case 155: // STATE 30 - lanes.pml:67 - [(((mine<2)&&(((head[mine]-tail[mine])+1)>4)))] (47:0:5 - 1)
		IfNotBlocked
		reached[0][30] = 1;
		if (!(((((int)((P0 *)_this)->mine)<2)&&(((((int)now.head[ Index(((int)((P0 *)_this)->mine), 2) ])-((int)now.tail[ Index(((int)((P0 *)_this)->mine), 2) ]))+1)>4))))
			continue;
		/* merge: writers_in[mine] = (writers_in[mine]-1)(47, 31, 47) */
		reached[0][31] = 1;
		(trpt+1)->bup.ovals = grab_ints(5);
		(trpt+1)->bup.ovals[0] = ((int)now.writers_in[ Index(((int)((P0 *)_this)->mine), 2) ]);
		now.writers_in[ Index(((P0 *)_this)->mine, 2) ] = (((int)now.writers_in[ Index(((int)((P0 *)_this)->mine), 2) ])-1);
#ifdef VAR_RANGES
		logval("writers_in[Writer:mine]", ((int)now.writers_in[ Index(((int)((P0 *)_this)->mine), 2) ]));
#endif
		;
		/* merge: lease[mine] = 0(47, 32, 47) */
		reached[0][32] = 1;
		(trpt+1)->bup.ovals[1] = ((int)now.lease[ Index(((int)((P0 *)_this)->mine), 2) ]);
		now.lease[ Index(((P0 *)_this)->mine, 2) ] = 0;
#ifdef VAR_RANGES
		logval("lease[Writer:mine]", ((int)now.lease[ Index(((int)((P0 *)_this)->mine), 2) ]));
#endif
		;
		/* merge: mine = 2(47, 33, 47) */
		reached[0][33] = 1;
		(trpt+1)->bup.ovals[2] = ((int)((P0 *)_this)->mine);
		((P0 *)_this)->mine = 2;
#ifdef VAR_RANGES
		logval("Writer:mine", ((int)((P0 *)_this)->mine));
#endif
		;
		/* merge: .(goto)(47, 37, 47) */
		reached[0][37] = 1;
		;
		/* merge: i = 0(47, 38, 47) */
		reached[0][38] = 1;
		(trpt+1)->bup.ovals[3] = ((int)((P0 *)_this)->i);
		((P0 *)_this)->i = 0;
#ifdef VAR_RANGES
		logval("Writer:i", ((int)((P0 *)_this)->i));
#endif
		;
		/* merge: l = 0(47, 39, 47) */
		reached[0][39] = 1;
		(trpt+1)->bup.ovals[4] = ((int)((P0 *)_this)->l);
		((P0 *)_this)->l = 0;
#ifdef VAR_RANGES
		logval("Writer:l", ((int)((P0 *)_this)->l));
#endif
		;
		_m = 3; goto P999; /* 6 */
	case 156: // STATE 35 - lanes.pml:68 - [(1)] (47:0:2 - 1)
		IfNotBlocked
		reached[0][35] = 1;
		if (!(1))
			continue;
		/* merge: .(goto)(47, 37, 47) */
		reached[0][37] = 1;
		;
		/* merge: i = 0(47, 38, 47) */
		reached[0][38] = 1;
		(trpt+1)->bup.ovals = grab_ints(2);
		(trpt+1)->bup.ovals[0] = ((int)((P0 *)_this)->i);
		((P0 *)_this)->i = 0;
#ifdef VAR_RANGES
		logval("Writer:i", ((int)((P0 *)_this)->i));
#endif
		;
		/* merge: l = 0(47, 39, 47) */
		reached[0][39] = 1;
		(trpt+1)->bup.ovals[1] = ((int)((P0 *)_this)->l);
		((P0 *)_this)->l = 0;
#ifdef VAR_RANGES
		logval("Writer:l", ((int)((P0 *)_this)->l));
#endif
		;
		_m = 3; goto P999; /* 3 */
	case 157: // STATE 38 - lanes.pml:70 - [i = 0] (0:47:2 - 3)
		IfNotBlocked
		reached[0][38] = 1;
		(trpt+1)->bup.ovals = grab_ints(2);
		(trpt+1)->bup.ovals[0] = ((int)((P0 *)_this)->i);
		((P0 *)_this)->i = 0;
#ifdef VAR_RANGES
		logval("Writer:i", ((int)((P0 *)_this)->i));
#endif
		;
		/* merge: l = 0(47, 39, 47) */
		reached[0][39] = 1;
		(trpt+1)->bup.ovals[1] = ((int)((P0 *)_this)->l);
		((P0 *)_this)->l = 0;
#ifdef VAR_RANGES
		logval("Writer:l", ((int)((P0 *)_this)->l));
#endif
		;
		_m = 3; goto P999; /* 1 */
	case 158: // STATE 42 - lanes.pml:87 - [((mine==2))] (105:0:2 - 1)
		IfNotBlocked
		reached[0][42] = 1;
		if (!((((int)((P0 *)_this)->mine)==2)))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: mine */  (trpt+1)->bup.ovals = grab_ints(2);
		(trpt+1)->bup.ovals[0] = ((P0 *)_this)->mine;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P0 *)_this)->mine = 0;
		/* merge: n = (n+1)(0, 43, 105) */
		reached[0][43] = 1;
		(trpt+1)->bup.ovals[1] = ((int)((P0 *)_this)->n);
		((P0 *)_this)->n = (((int)((P0 *)_this)->n)+1);
#ifdef VAR_RANGES
		logval("Writer:n", ((int)((P0 *)_this)->n));
#endif
		;
		/* merge: goto next(0, 44, 105) */
		reached[0][44] = 1;
		;
		_m = 3; goto P999; /* 2 */
	case 159: // STATE 49 - lanes.pml:90 - [slots[((mine*4)+(head[mine]%4))] = 15] (0:0:1 - 2)
		IfNotBlocked
		reached[0][49] = 1;
		(trpt+1)->bup.oval = ((int)now.slots[ Index(((((int)((P0 *)_this)->mine)*4)+(((int)now.head[ Index(((int)((P0 *)_this)->mine), 2) ])%4)), 8) ]);
		now.slots[ Index(((((P0 *)_this)->mine*4)+(now.head[ Index(((P0 *)_this)->mine, 2) ]%4)), 8) ] = 15;
#ifdef VAR_RANGES
		logval("slots[((Writer:mine*4)+(head[Writer:mine]%4))]", ((int)now.slots[ Index(((((int)((P0 *)_this)->mine)*4)+(((int)now.head[ Index(((int)((P0 *)_this)->mine), 2) ])%4)), 8) ]));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 160: // STATE 50 - lanes.pml:91 - [head[mine] = (head[mine]+1)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][50] = 1;
		(trpt+1)->bup.oval = ((int)now.head[ Index(((int)((P0 *)_this)->mine), 2) ]);
		now.head[ Index(((P0 *)_this)->mine, 2) ] = (((int)now.head[ Index(((int)((P0 *)_this)->mine), 2) ])+1);
#ifdef VAR_RANGES
		logval("head[Writer:mine]", ((int)now.head[ Index(((int)((P0 *)_this)->mine), 2) ]));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 161: // STATE 51 - lanes.pml:74 - [writers_in[mine] = (writers_in[mine]-1)] (0:55:2 - 1)
		IfNotBlocked
		reached[0][51] = 1;
		(trpt+1)->bup.ovals = grab_ints(2);
		(trpt+1)->bup.ovals[0] = ((int)now.writers_in[ Index(((int)((P0 *)_this)->mine), 2) ]);
		now.writers_in[ Index(((P0 *)_this)->mine, 2) ] = (((int)now.writers_in[ Index(((int)((P0 *)_this)->mine), 2) ])-1);
#ifdef VAR_RANGES
		logval("writers_in[Writer:mine]", ((int)now.writers_in[ Index(((int)((P0 *)_this)->mine), 2) ]));
#endif
		;
		/* merge: lease[mine] = 0(55, 52, 55) */
		reached[0][52] = 1;
		(trpt+1)->bup.ovals[1] = ((int)now.lease[ Index(((int)((P0 *)_this)->mine), 2) ]);
		now.lease[ Index(((P0 *)_this)->mine, 2) ] = 0;
#ifdef VAR_RANGES
		logval("lease[Writer:mine]", ((int)now.lease[ Index(((int)((P0 *)_this)->mine), 2) ]));
#endif
		;
		_m = 3; goto P999; /* 1 */
	case 162: // STATE 55 - lanes.pml:93 - [announced = seen] (0:0:1 - 1)
		IfNotBlocked
		reached[0][55] = 1;
		(trpt+1)->bup.oval = ((int)now.announced);
		now.announced = ((int)((P0 *)_this)->seen);
#ifdef VAR_RANGES
		logval("announced", ((int)now.announced));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 163: // STATE 58 - lanes.pml:51 - [mine = 2] (0:76:2 - 1)
		IfNotBlocked
		reached[0][58] = 1;
		(trpt+1)->bup.ovals = grab_ints(2);
		(trpt+1)->bup.ovals[0] = ((int)((P0 *)_this)->mine);
		((P0 *)_this)->mine = 2;
#ifdef VAR_RANGES
		logval("Writer:mine", ((int)((P0 *)_this)->mine));
#endif
		;
		/* merge: i = 0(76, 59, 76) */
		reached[0][59] = 1;
		(trpt+1)->bup.ovals[1] = ((int)((P0 *)_this)->i);
		((P0 *)_this)->i = 0;
#ifdef VAR_RANGES
		logval("Writer:i", ((int)((P0 *)_this)->i));
#endif
		;
		/* merge: .(goto)(0, 77, 76) */
		reached[0][77] = 1;
		;
		_m = 3; goto P999; /* 2 */
	case 164: // STATE 60 - lanes.pml:54 - [((i<2))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][60] = 1;
		if (!((((int)((P0 *)_this)->i)<2)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 165: // STATE 61 - lanes.pml:56 - [l = ((_pid+i)%2)] (0:71:2 - 1)
		IfNotBlocked
		reached[0][61] = 1;
		(trpt+1)->bup.ovals = grab_ints(2);
		(trpt+1)->bup.ovals[0] = ((int)((P0 *)_this)->l);
		((P0 *)_this)->l = ((((int)((P0 *)_this)->_pid)+((int)((P0 *)_this)->i))%2);
#ifdef VAR_RANGES
		logval("Writer:l", ((int)((P0 *)_this)->l));
#endif
		;
		/* merge: i = (i+1)(71, 62, 71) */
		reached[0][62] = 1;
		(trpt+1)->bup.ovals[1] = ((int)((P0 *)_this)->i);
		((P0 *)_this)->i = (((int)((P0 *)_this)->i)+1);
#ifdef VAR_RANGES
		logval("Writer:i", ((int)((P0 *)_this)->i));
#endif
		;
		_m = 3; goto P999; /* 1 */
	case 166: // STATE 63 - lanes.pml:59 - [(lease[l])] (0:0:1 - 1)
		IfNotBlocked
		reached[0][63] = 1;
		if (!(((int)now.lease[ Index(((int)((P0 *)_this)->l), 2) ])))
			continue;
		if (TstOnly) return 1; /* TT */
		/* dead 1: l */  (trpt+1)->bup.oval = ((P0 *)_this)->l;
#ifdef HAS_CODE
		if (!readtrail)
#endif
			((P0 *)_this)->l = 0;
		_m = 3; goto P999; /* 0 */
	case 167: // STATE 64 - lanes.pml:59 - [(1)] (76:0:0 - 1)
		IfNotBlocked
		reached[0][64] = 1;
		if (!(1))
			continue;
		/* merge: .(goto)(0, 72, 76) */
		reached[0][72] = 1;
		;
		/* merge: .(goto)(0, 77, 76) */
		reached[0][77] = 1;
		;
		_m = 3; goto P999; /* 2 */
	case 168: // STATE 66 - lanes.pml:60 - [lease[l] = 1] (0:78:3 - 1)
		IfNotBlocked
		reached[0][66] = 1;
		(trpt+1)->bup.ovals = grab_ints(3);
		(trpt+1)->bup.ovals[0] = ((int)now.lease[ Index(((int)((P0 *)_this)->l), 2) ]);
		now.lease[ Index(((P0 *)_this)->l, 2) ] = 1;
#ifdef VAR_RANGES
		logval("lease[Writer:l]", ((int)now.lease[ Index(((int)((P0 *)_this)->l), 2) ]));
#endif
		;
		/* merge: writers_in[l] = (writers_in[l]+1)(78, 67, 78) */
		reached[0][67] = 1;
		(trpt+1)->bup.ovals[1] = ((int)now.writers_in[ Index(((int)((P0 *)_this)->l), 2) ]);
		now.writers_in[ Index(((P0 *)_this)->l, 2) ] = (((int)now.writers_in[ Index(((int)((P0 *)_this)->l), 2) ])+1);
#ifdef VAR_RANGES
		logval("writers_in[Writer:l]", ((int)now.writers_in[ Index(((int)((P0 *)_this)->l), 2) ]));
#endif
		;
		/* merge: assert((writers_in[l]==1))(78, 68, 78) */
		reached[0][68] = 1;
		spin_assert((((int)now.writers_in[ Index(((int)((P0 *)_this)->l), 2) ])==1), "(writers_in[l]==1)", II, tt, t);
		/* merge: mine = l(78, 69, 78) */
		reached[0][69] = 1;
		(trpt+1)->bup.ovals[2] = ((int)((P0 *)_this)->mine);
		((P0 *)_this)->mine = ((int)((P0 *)_this)->l);
#ifdef VAR_RANGES
		logval("Writer:mine", ((int)((P0 *)_this)->mine));
#endif
		;
		/* merge: goto :b2(78, 70, 78) */
		reached[0][70] = 1;
		;
		_m = 3; goto P999; /* 4 */
	case 169: // STATE 79 - lanes.pml:67 - [(((mine<2)&&(((head[mine]-tail[mine])+1)>4)))] (102:0:5 - 1)
		IfNotBlocked
		reached[0][79] = 1;
		if (!(((((int)((P0 *)_this)->mine)<2)&&(((((int)now.head[ Index(((int)((P0 *)_this)->mine), 2) ])-((int)now.tail[ Index(((int)((P0 *)_this)->mine), 2) ]))+1)>4))))
			continue;
		/* merge: writers_in[mine] = (writers_in[mine]-1)(102, 80, 102) */
		reached[0][80] = 1;
		(trpt+1)->bup.ovals = grab_ints(5);
		(trpt+1)->bup.ovals[0] = ((int)now.writers_in[ Index(((int)((P0 *)_this)->mine), 2) ]);
		now.writers_in[ Index(((P0 *)_this)->mine, 2) ] = (((int)now.writers_in[ Index(((int)((P0 *)_this)->mine), 2) ])-1);
#ifdef VAR_RANGES
		logval("writers_in[Writer:mine]", ((int)now.writers_in[ Index(((int)((P0 *)_this)->mine), 2) ]));
#endif
		;
		/* merge: lease[mine] = 0(102, 81, 102) */
		reached[0][81] = 1;
		(trpt+1)->bup.ovals[1] = ((int)now.lease[ Index(((int)((P0 *)_this)->mine), 2) ]);
		now.lease[ Index(((P0 *)_this)->mine, 2) ] = 0;
#ifdef VAR_RANGES
		logval("lease[Writer:mine]", ((int)now.lease[ Index(((int)((P0 *)_this)->mine), 2) ]));
#endif
		;
		/* merge: mine = 2(102, 82, 102) */
		reached[0][82] = 1;
		(trpt+1)->bup.ovals[2] = ((int)((P0 *)_this)->mine);
		((P0 *)_this)->mine = 2;
#ifdef VAR_RANGES
		logval("Writer:mine", ((int)((P0 *)_this)->mine));
#endif
		;
		/* merge: .(goto)(102, 86, 102) */
		reached[0][86] = 1;
		;
		/* merge: i = 0(102, 87, 102) */
		reached[0][87] = 1;
		(trpt+1)->bup.ovals[3] = ((int)((P0 *)_this)->i);
		((P0 *)_this)->i = 0;
#ifdef VAR_RANGES
		logval("Writer:i", ((int)((P0 *)_this)->i));
#endif
		;
		/* merge: l = 0(102, 88, 102) */
		reached[0][88] = 1;
		(trpt+1)->bup.ovals[4] = ((int)((P0 *)_this)->l);
		((P0 *)_this)->l = 0;
#ifdef VAR_RANGES
		logval("Writer:l", ((int)((P0 *)_this)->l));
#endif
		;
		_m = 3; goto P999; /* 6 */
	case 170: // STATE 84 - lanes.pml:68 - [(1)] (102:0:2 - 1)
		IfNotBlocked
		reached[0][84] = 1;
		if (!(1))
			continue;
		/* merge: .(goto)(102, 86, 102) */
		reached[0][86] = 1;
		;
		/* merge: i = 0(102, 87, 102) */
		reached[0][87] = 1;
		(trpt+1)->bup.ovals = grab_ints(2);
		(trpt+1)->bup.ovals[0] = ((int)((P0 *)_this)->i);
		((P0 *)_this)->i = 0;
#ifdef VAR_RANGES
		logval("Writer:i", ((int)((P0 *)_this)->i));
#endif
		;
		/* merge: l = 0(102, 88, 102) */
		reached[0][88] = 1;
		(trpt+1)->bup.ovals[1] = ((int)((P0 *)_this)->l);
		((P0 *)_this)->l = 0;
#ifdef VAR_RANGES
		logval("Writer:l", ((int)((P0 *)_this)->l));
#endif
		;
		_m = 3; goto P999; /* 3 */
	case 171: // STATE 87 - lanes.pml:70 - [i = 0] (0:102:2 - 3)
		IfNotBlocked
		reached[0][87] = 1;
		(trpt+1)->bup.ovals = grab_ints(2);
		(trpt+1)->bup.ovals[0] = ((int)((P0 *)_this)->i);
		((P0 *)_this)->i = 0;
#ifdef VAR_RANGES
		logval("Writer:i", ((int)((P0 *)_this)->i));
#endif
		;
		/* merge: l = 0(102, 88, 102) */
		reached[0][88] = 1;
		(trpt+1)->bup.ovals[1] = ((int)((P0 *)_this)->l);
		((P0 *)_this)->l = 0;
#ifdef VAR_RANGES
		logval("Writer:l", ((int)((P0 *)_this)->l));
#endif
		;
		_m = 3; goto P999; /* 1 */
	case 172: // STATE 91 - lanes.pml:97 - [((mine<2))] (0:0:0 - 1)
		IfNotBlocked
		reached[0][91] = 1;
		if (!((((int)((P0 *)_this)->mine)<2)))
			continue;
		_m = 3; goto P999; /* 0 */
	case 173: // STATE 92 - lanes.pml:98 - [born[(first+n)] = interval] (0:0:1 - 1)
		IfNotBlocked
		reached[0][92] = 1;
		(trpt+1)->bup.oval = ((int)now.born[ Index((((int)((P0 *)_this)->first)+((int)((P0 *)_this)->n)), 2) ]);
		now.born[ Index((((P0 *)_this)->first+((P0 *)_this)->n), 2) ] = ((int)now.interval);
#ifdef VAR_RANGES
		logval("born[(Writer:first+Writer:n)]", ((int)now.born[ Index((((int)((P0 *)_this)->first)+((int)((P0 *)_this)->n)), 2) ]));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 174: // STATE 93 - lanes.pml:99 - [slots[((mine*4)+(head[mine]%4))] = (first+n)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][93] = 1;
		(trpt+1)->bup.oval = ((int)now.slots[ Index(((((int)((P0 *)_this)->mine)*4)+(((int)now.head[ Index(((int)((P0 *)_this)->mine), 2) ])%4)), 8) ]);
		now.slots[ Index(((((P0 *)_this)->mine*4)+(now.head[ Index(((P0 *)_this)->mine, 2) ]%4)), 8) ] = (((int)((P0 *)_this)->first)+((int)((P0 *)_this)->n));
#ifdef VAR_RANGES
		logval("slots[((Writer:mine*4)+(head[Writer:mine]%4))]", ((int)now.slots[ Index(((((int)((P0 *)_this)->mine)*4)+(((int)now.head[ Index(((int)((P0 *)_this)->mine), 2) ])%4)), 8) ]));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 175: // STATE 94 - lanes.pml:100 - [head[mine] = (head[mine]+1)] (0:0:1 - 1)
		IfNotBlocked
		reached[0][94] = 1;
		(trpt+1)->bup.oval = ((int)now.head[ Index(((int)((P0 *)_this)->mine), 2) ]);
		now.head[ Index(((P0 *)_this)->mine, 2) ] = (((int)now.head[ Index(((int)((P0 *)_this)->mine), 2) ])+1);
#ifdef VAR_RANGES
		logval("head[Writer:mine]", ((int)now.head[ Index(((int)((P0 *)_this)->mine), 2) ]));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 176: // STATE 95 - lanes.pml:101 - [acknowledged = (acknowledged|(1<<(first+n)))] (0:0:1 - 1)
		IfNotBlocked
		reached[0][95] = 1;
		(trpt+1)->bup.oval = now.acknowledged;
		now.acknowledged = (now.acknowledged|(1<<(((int)((P0 *)_this)->first)+((int)((P0 *)_this)->n))));
#ifdef VAR_RANGES
		logval("acknowledged", now.acknowledged);
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 177: // STATE 96 - lanes.pml:74 - [writers_in[mine] = (writers_in[mine]-1)] (0:105:3 - 1)
		IfNotBlocked
		reached[0][96] = 1;
		(trpt+1)->bup.ovals = grab_ints(3);
		(trpt+1)->bup.ovals[0] = ((int)now.writers_in[ Index(((int)((P0 *)_this)->mine), 2) ]);
		now.writers_in[ Index(((P0 *)_this)->mine, 2) ] = (((int)now.writers_in[ Index(((int)((P0 *)_this)->mine), 2) ])-1);
#ifdef VAR_RANGES
		logval("writers_in[Writer:mine]", ((int)now.writers_in[ Index(((int)((P0 *)_this)->mine), 2) ]));
#endif
		;
		/* merge: lease[mine] = 0(105, 97, 105) */
		reached[0][97] = 1;
		(trpt+1)->bup.ovals[1] = ((int)now.lease[ Index(((int)((P0 *)_this)->mine), 2) ]);
		now.lease[ Index(((P0 *)_this)->mine, 2) ] = 0;
#ifdef VAR_RANGES
		logval("lease[Writer:mine]", ((int)now.lease[ Index(((int)((P0 *)_this)->mine), 2) ]));
#endif
		;
		/* merge: .(goto)(105, 103, 105) */
		reached[0][103] = 1;
		;
		/* merge: n = (n+1)(105, 104, 105) */
		reached[0][104] = 1;
		(trpt+1)->bup.ovals[2] = ((int)((P0 *)_this)->n);
		((P0 *)_this)->n = (((int)((P0 *)_this)->n)+1);
#ifdef VAR_RANGES
		logval("Writer:n", ((int)((P0 *)_this)->n));
#endif
		;
		_m = 3; goto P999; /* 3 */
	case 178: // STATE 101 - lanes.pml:103 - [(1)] (105:0:1 - 1)
		IfNotBlocked
		reached[0][101] = 1;
		if (!(1))
			continue;
		/* merge: .(goto)(105, 103, 105) */
		reached[0][103] = 1;
		;
		/* merge: n = (n+1)(105, 104, 105) */
		reached[0][104] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->n);
		((P0 *)_this)->n = (((int)((P0 *)_this)->n)+1);
#ifdef VAR_RANGES
		logval("Writer:n", ((int)((P0 *)_this)->n));
#endif
		;
		_m = 3; goto P999; /* 2 */
	case 179: // STATE 104 - lanes.pml:105 - [n = (n+1)] (0:105:1 - 3)
		IfNotBlocked
		reached[0][104] = 1;
		(trpt+1)->bup.oval = ((int)((P0 *)_this)->n);
		((P0 *)_this)->n = (((int)((P0 *)_this)->n)+1);
#ifdef VAR_RANGES
		logval("Writer:n", ((int)((P0 *)_this)->n));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 180: // STATE 105 - lanes.pml:107 - [under_way[(first/1)] = 0] (0:0:1 - 3)
		IfNotBlocked
		reached[0][105] = 1;
		(trpt+1)->bup.oval = ((int)now.under_way[ Index((((int)((P0 *)_this)->first)/1), 2) ]);
		now.under_way[ Index((((P0 *)_this)->first/1), 2) ] = 0;
#ifdef VAR_RANGES
		logval("under_way[(Writer:first/1)]", ((int)now.under_way[ Index((((int)((P0 *)_this)->first)/1), 2) ]));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 181: // STATE 111 - lanes.pml:110 - [live_writers = (live_writers-1)] (0:0:1 - 3)
		IfNotBlocked
		reached[0][111] = 1;
		(trpt+1)->bup.oval = ((int)now.live_writers);
		now.live_writers = (((int)now.live_writers)-1);
#ifdef VAR_RANGES
		logval("live_writers", ((int)now.live_writers));
#endif
		;
		_m = 3; goto P999; /* 0 */
	case 182: // STATE 112 - lanes.pml:111 - [-end-] (0:0:0 - 1)
		IfNotBlocked
		reached[0][112] = 1;
		if (!delproc(1, II)) continue;
		_m = 3; goto P999; /* 0 */
	case  _T5:	/* np_ */
		if (!((!(trpt->o_pm&4) && !(trpt->tau&128))))
			continue;
		/* else fall through */
	case  _T2:	/* true */
		_m = 3; goto P999;
#undef rand
	}

