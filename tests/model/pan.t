#ifdef PEG
struct T_SRC {
	char *fl; int ln;
} T_SRC[NTRANS];

void
tr_2_src(int m, char *file, int ln)
{	T_SRC[m].fl = file;
	T_SRC[m].ln = ln;
}

void
putpeg(int n, int m)
{	printf("%5d	trans %4d ", m, n);
	printf("%s:%d\n",
		T_SRC[n].fl, T_SRC[n].ln);
}
#endif

void
settable(void)
{	Trans *T;
	Trans *settr(int, int, int, int, int, char *, int, int, int);

	trans = (Trans ***) emalloc(5*sizeof(Trans **));

	/* proctype 3: :init: */

	trans[3] = (Trans **) emalloc(7*sizeof(Trans *));

	T = trans[ 3][5] = settr(576,2,0,0,0,"ATOMIC", 0, 2, 0);
	T->nxt	= settr(576,2,1,0,0,"ATOMIC", 0, 2, 0);
	trans[3][1]	= settr(572,2,2,3,3,"(run Writer(0))", 0, 2, 0);
	trans[3][2]	= settr(573,2,3,4,4,"(run Writer(1))", 0, 2, 0);
	trans[3][3]	= settr(574,2,4,5,5,"(run Drain())", 0, 2, 0);
	trans[3][4]	= settr(575,0,6,6,6,"(run Salvager())", 0, 2, 0);
	trans[3][6]	= settr(577,0,0,7,7,"-end-", 0, 3500, 0);

	/* proctype 2: Salvager */

	trans[2] = (Trans **) emalloc(48*sizeof(Trans *));

	trans[2][45]	= settr(569,0,44,1,0,".(goto)", 0, 2, 0);
	T = trans[2][44] = settr(568,0,0,0,0,"DO", 0, 2, 0);
	    T->nxt	= settr(568,0,43,0,0,"DO", 0, 2, 0);
	T = trans[ 2][43] = settr(567,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(567,0,42,0,0,"sub-sequence", 0, 2, 0);
/*->*/	trans[2][42]	= settr(566,32,44,8,8,"D_STEP254", 1, 2, 0);
	trans[2][46]	= settr(570,0,47,1,0,"break", 0, 2, 0);
	trans[2][47]	= settr(571,0,0,9,9,"-end-", 0, 3500, 0);

	/* proctype 1: Drain */

	trans[1] = (Trans **) emalloc(414*sizeof(Trans *));

	trans[1][1]	= settr(112,0,268,10,10,"block = 0", 0, 2, 0);
	trans[1][269]	= settr(380,0,268,1,0,".(goto)", 0, 2, 0);
	T = trans[1][268] = settr(379,0,0,0,0,"DO", 0, 2, 0);
	T = T->nxt	= settr(379,0,2,0,0,"DO", 0, 2, 0);
	    T->nxt	= settr(379,0,266,0,0,"DO", 0, 2, 0);
	trans[1][2]	= settr(113,0,40,11,0,"((block<3))", 0, 2, 0);
	T = trans[ 1][40] = settr(151,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(151,0,3,0,0,"sub-sequence", 0, 2, 0);
	trans[1][3]	= settr(114,0,37,12,12,"d_lane = 0", 0, 2, 0);
	trans[1][38]	= settr(149,0,37,1,0,".(goto)", 0, 2, 0);
	T = trans[1][37] = settr(148,0,0,0,0,"DO", 0, 2, 0);
	T = T->nxt	= settr(148,0,4,0,0,"DO", 0, 2, 0);
	    T->nxt	= settr(148,0,35,0,0,"DO", 0, 2, 0);
	trans[1][4]	= settr(115,0,5,13,0,"((d_lane<2))", 0, 2, 0);
	trans[1][5]	= settr(116,0,33,14,14,"d_head = head[d_lane]", 1, 2, 0);
	T = trans[ 1][33] = settr(144,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(144,2,30,0,0,"ATOMIC", 1, 2, 0);
	trans[1][31]	= settr(142,2,30,1,0,".(goto)", 1, 2, 0);
	T = trans[1][30] = settr(141,2,0,0,0,"DO", 1, 2, 0);
	T = T->nxt	= settr(141,2,6,0,0,"DO", 1, 2, 0);
	    T->nxt	= settr(141,2,28,0,0,"DO", 1, 2, 0);
	trans[1][6]	= settr(117,2,25,15,15,"((scanned[d_lane]<d_head))", 1, 2, 0); /* m: 7 -> 25,0 */
	reached1[7] = 1;
	trans[1][7]	= settr(0,0,0,0,0,"r = slots[((d_lane*4)+(scanned[d_lane]%4))]",0,0,0);
	T = trans[1][25] = settr(136,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(136,2,8,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(136,2,15,0,0,"IF", 1, 2, 0);
	trans[1][8]	= settr(119,2,13,16,16,"((r==15))", 1, 2, 0);
	T = trans[1][13] = settr(124,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(124,2,9,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(124,2,12,0,0,"IF", 1, 2, 0);
	trans[1][9]	= settr(120,2,30,17,17,"(!(defined_now))", 1, 2, 0); /* m: 10 -> 30,0 */
	reached1[10] = 1;
	trans[1][10]	= settr(0,0,0,0,0,"defined_now = 1",0,0,0);
	trans[1][11]	= settr(0,0,0,0,0,"announced_in_block = 1",0,0,0);
	trans[1][14]	= settr(125,2,27,1,0,".(goto)", 1, 2, 0); /* m: 27 -> 0,30 */
	reached1[27] = 1;
	trans[1][12]	= settr(123,2,27,2,0,"else", 1, 2, 0);
	trans[1][26]	= settr(137,2,27,1,0,".(goto)", 1, 2, 0); /* m: 27 -> 0,30 */
	reached1[27] = 1;
	trans[1][15]	= settr(126,2,19,2,0,"else", 1, 2, 0);
	T = trans[1][19] = settr(130,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(130,2,16,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(130,2,18,0,0,"IF", 1, 2, 0);
	trans[1][16]	= settr(127,2,30,18,18,"((last[d_lane]<255))", 1, 2, 0); /* m: 17 -> 30,0 */
	reached1[17] = 1;
	trans[1][17]	= settr(0,0,0,0,0,"assert((born[last[d_lane]]<=born[r]))",0,0,0);
	trans[1][20]	= settr(131,2,21,1,0,".(goto)", 1, 2, 0); /* m: 21 -> 0,30 */
	reached1[21] = 1;
	trans[1][18]	= settr(129,2,21,2,0,"else", 1, 2, 0);
	trans[1][21]	= settr(132,2,30,19,19,"last[d_lane] = r", 1, 2, 0); /* m: 22 -> 0,30 */
	reached1[22] = 1;
	trans[1][22]	= settr(0,0,0,0,0,"held = (held|(1<<r))",0,0,0);
	trans[1][23]	= settr(0,0,0,0,0,"at[r] = scanned[d_lane]",0,0,0);
	trans[1][24]	= settr(0,0,0,0,0,"where[r] = d_lane",0,0,0);
	trans[1][27]	= settr(138,2,30,20,20,"scanned[d_lane] = (scanned[d_lane]+1)", 1, 2, 0);
	trans[1][28]	= settr(139,2,29,2,0,"else", 1, 2, 0);
	trans[1][29]	= settr(140,2,32,1,0,"goto :b5", 1, 2, 0);
	trans[1][32]	= settr(143,0,34,1,0,"break", 1, 2, 0);
	trans[1][34]	= settr(145,0,37,21,21,"d_lane = (d_lane+1)", 0, 2, 0);
	trans[1][35]	= settr(146,0,41,2,0,"else", 0, 2, 0);
	trans[1][36]	= settr(147,0,41,1,0,"goto :b4", 0, 2, 0);
	trans[1][39]	= settr(150,0,41,1,0,"break", 0, 2, 0);
	trans[1][41]	= settr(152,0,45,22,22,"interval = (interval+1)", 1, 2, 0);
	T = trans[1][45] = settr(156,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(156,0,42,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(156,0,44,0,0,"IF", 0, 2, 0);
	trans[1][42]	= settr(153,0,43,23,0,"(((lease[0]==0)&&(lease[1]==0)))", 1, 2, 0);
	trans[1][43]	= settr(154,0,84,1,0,"(1)", 0, 2, 0);
	trans[1][46]	= settr(157,0,84,1,0,".(goto)", 0, 2, 0);
	trans[1][44]	= settr(155,0,84,1,0,"(1)", 0, 2, 0);
	T = trans[ 1][84] = settr(195,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(195,0,47,0,0,"sub-sequence", 0, 2, 0);
	trans[1][47]	= settr(158,0,81,24,24,"d_lane = 0", 0, 2, 0);
	trans[1][82]	= settr(193,0,81,1,0,".(goto)", 0, 2, 0);
	T = trans[1][81] = settr(192,0,0,0,0,"DO", 0, 2, 0);
	T = T->nxt	= settr(192,0,48,0,0,"DO", 0, 2, 0);
	    T->nxt	= settr(192,0,79,0,0,"DO", 0, 2, 0);
	trans[1][48]	= settr(159,0,49,25,0,"((d_lane<2))", 0, 2, 0);
	trans[1][49]	= settr(160,0,77,26,26,"d_head = head[d_lane]", 1, 2, 0);
	T = trans[ 1][77] = settr(188,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(188,2,74,0,0,"ATOMIC", 1, 2, 0);
	trans[1][75]	= settr(186,2,74,1,0,".(goto)", 1, 2, 0);
	T = trans[1][74] = settr(185,2,0,0,0,"DO", 1, 2, 0);
	T = T->nxt	= settr(185,2,50,0,0,"DO", 1, 2, 0);
	    T->nxt	= settr(185,2,72,0,0,"DO", 1, 2, 0);
	trans[1][50]	= settr(161,2,69,27,27,"((scanned[d_lane]<d_head))", 1, 2, 0); /* m: 51 -> 69,0 */
	reached1[51] = 1;
	trans[1][51]	= settr(0,0,0,0,0,"r = slots[((d_lane*4)+(scanned[d_lane]%4))]",0,0,0);
	T = trans[1][69] = settr(180,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(180,2,52,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(180,2,59,0,0,"IF", 1, 2, 0);
	trans[1][52]	= settr(163,2,57,28,28,"((r==15))", 1, 2, 0);
	T = trans[1][57] = settr(168,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(168,2,53,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(168,2,56,0,0,"IF", 1, 2, 0);
	trans[1][53]	= settr(164,2,74,29,29,"(!(defined_now))", 1, 2, 0); /* m: 54 -> 74,0 */
	reached1[54] = 1;
	trans[1][54]	= settr(0,0,0,0,0,"defined_now = 1",0,0,0);
	trans[1][55]	= settr(0,0,0,0,0,"announced_in_block = 1",0,0,0);
	trans[1][58]	= settr(169,2,71,1,0,".(goto)", 1, 2, 0); /* m: 71 -> 0,74 */
	reached1[71] = 1;
	trans[1][56]	= settr(167,2,71,2,0,"else", 1, 2, 0);
	trans[1][70]	= settr(181,2,71,1,0,".(goto)", 1, 2, 0); /* m: 71 -> 0,74 */
	reached1[71] = 1;
	trans[1][59]	= settr(170,2,63,2,0,"else", 1, 2, 0);
	T = trans[1][63] = settr(174,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(174,2,60,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(174,2,62,0,0,"IF", 1, 2, 0);
	trans[1][60]	= settr(171,2,74,30,30,"((last[d_lane]<255))", 1, 2, 0); /* m: 61 -> 74,0 */
	reached1[61] = 1;
	trans[1][61]	= settr(0,0,0,0,0,"assert((born[last[d_lane]]<=born[r]))",0,0,0);
	trans[1][64]	= settr(175,2,65,1,0,".(goto)", 1, 2, 0); /* m: 65 -> 0,74 */
	reached1[65] = 1;
	trans[1][62]	= settr(173,2,65,2,0,"else", 1, 2, 0);
	trans[1][65]	= settr(176,2,74,31,31,"last[d_lane] = r", 1, 2, 0); /* m: 66 -> 0,74 */
	reached1[66] = 1;
	trans[1][66]	= settr(0,0,0,0,0,"held = (held|(1<<r))",0,0,0);
	trans[1][67]	= settr(0,0,0,0,0,"at[r] = scanned[d_lane]",0,0,0);
	trans[1][68]	= settr(0,0,0,0,0,"where[r] = d_lane",0,0,0);
	trans[1][71]	= settr(182,2,74,32,32,"scanned[d_lane] = (scanned[d_lane]+1)", 1, 2, 0);
	trans[1][72]	= settr(183,2,73,2,0,"else", 1, 2, 0);
	trans[1][73]	= settr(184,2,76,1,0,"goto :b7", 1, 2, 0);
	trans[1][76]	= settr(187,0,78,1,0,"break", 1, 2, 0);
	trans[1][78]	= settr(189,0,81,33,33,"d_lane = (d_lane+1)", 0, 2, 0);
	trans[1][79]	= settr(190,0,110,2,0,"else", 0, 2, 0);
	trans[1][80]	= settr(191,0,110,1,0,"goto :b6", 0, 2, 0);
	trans[1][83]	= settr(194,0,110,1,0,"break", 0, 2, 0);
	T = trans[ 1][110] = settr(221,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(221,0,109,0,0,"sub-sequence", 0, 2, 0);
	T = trans[ 1][109] = settr(220,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(220,2,85,0,0,"ATOMIC", 1, 2, 0);
	trans[1][85]	= settr(196,2,106,34,34,"r = 0", 1, 2, 0);
	trans[1][107]	= settr(218,2,106,1,0,".(goto)", 1, 2, 0);
	T = trans[1][106] = settr(217,2,0,0,0,"DO", 1, 2, 0);
	T = T->nxt	= settr(217,2,86,0,0,"DO", 1, 2, 0);
	    T->nxt	= settr(217,2,104,0,0,"DO", 1, 2, 0);
	trans[1][86]	= settr(197,2,101,35,0,"((r<(2*1)))", 1, 2, 0);
	T = trans[1][101] = settr(212,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(212,2,87,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(212,2,99,0,0,"IF", 1, 2, 0);
	trans[1][87]	= settr(198,2,95,36,0,"(((held&(1<<r))&&(0||(born[r]<interval))))", 1, 2, 0);
	T = trans[ 1][95] = settr(206,0,0,0,0,"sub-sequence", 1, 2, 0);
	T->nxt	= settr(206,0,93,0,0,"sub-sequence", 1, 2, 0);
	T = trans[1][93] = settr(204,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(204,2,88,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(204,2,91,0,0,"IF", 1, 2, 0);
	trans[1][88]	= settr(199,2,106,37,37,"((!(defined_now)&&defined_before))", 1, 2, 0); /* m: 89 -> 106,0 */
	reached1[89] = 1;
	trans[1][89]	= settr(0,0,0,0,0,"defined_now = 1",0,0,0);
	trans[1][90]	= settr(0,0,0,0,0,"announced_in_block = 1",0,0,0);
	trans[1][94]	= settr(205,2,96,1,0,".(goto)", 1, 2, 0); /* m: 96 -> 0,106 */
	reached1[96] = 1;
	trans[1][91]	= settr(202,2,92,2,0,"else", 1, 2, 0);
	trans[1][92]	= settr(203,2,106,38,38,"(1)", 1, 2, 0); /* m: 96 -> 106,0 */
	reached1[96] = 1;
	trans[1][96]	= settr(207,2,106,39,39,"assert(defined_now)", 1, 2, 0); /* m: 97 -> 0,106 */
	reached1[97] = 1;
	trans[1][97]	= settr(0,0,0,0,0,"held = (held&~((1<<r)))",0,0,0);
	trans[1][98]	= settr(0,0,0,0,0,"pending = (pending|(1<<r))",0,0,0);
	trans[1][102]	= settr(213,2,103,1,0,".(goto)", 1, 2, 0); /* m: 103 -> 0,106 */
	reached1[103] = 1;
	trans[1][99]	= settr(210,2,100,2,0,"else", 1, 2, 0);
	trans[1][100]	= settr(211,2,106,40,40,"(1)", 1, 2, 0); /* m: 103 -> 106,0 */
	reached1[103] = 1;
	trans[1][103]	= settr(214,2,106,41,41,"r = (r+1)", 1, 2, 0);
	trans[1][104]	= settr(215,2,105,2,0,"else", 1, 2, 0);
	trans[1][105]	= settr(216,2,108,1,0,"goto :b8", 1, 2, 0);
	trans[1][108]	= settr(219,0,263,1,0,"break", 1, 2, 0);
	T = trans[1][263] = settr(374,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(374,0,186,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(374,0,262,0,0,"IF", 0, 2, 0);
	T = trans[ 1][186] = settr(297,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(297,0,134,0,0,"sub-sequence", 0, 2, 0);
	T = trans[ 1][134] = settr(245,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(245,2,111,0,0,"ATOMIC", 1, 2, 0);
	trans[1][111]	= settr(222,2,131,42,42,"d_lane = 0", 1, 2, 0);
	trans[1][132]	= settr(243,2,131,1,0,".(goto)", 1, 2, 0);
	T = trans[1][131] = settr(242,2,0,0,0,"DO", 1, 2, 0);
	T = T->nxt	= settr(242,2,112,0,0,"DO", 1, 2, 0);
	    T->nxt	= settr(242,2,129,0,0,"DO", 1, 2, 0);
	trans[1][112]	= settr(223,2,125,43,43,"((d_lane<2))", 1, 2, 0); /* m: 113 -> 125,0 */
	reached1[113] = 1;
	trans[1][113]	= settr(0,0,0,0,0,"needed[d_lane] = scanned[d_lane]",0,0,0);
	trans[1][114]	= settr(0,0,0,0,0,"r = 0",0,0,0);
	trans[1][126]	= settr(237,2,125,1,0,".(goto)", 1, 2, 0);
	T = trans[1][125] = settr(236,2,0,0,0,"DO", 1, 2, 0);
	T = T->nxt	= settr(236,2,115,0,0,"DO", 1, 2, 0);
	    T->nxt	= settr(236,2,123,0,0,"DO", 1, 2, 0);
	trans[1][115]	= settr(226,2,120,44,0,"((r<(2*1)))", 1, 2, 0);
	T = trans[1][120] = settr(231,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(231,2,116,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(231,2,118,0,0,"IF", 1, 2, 0);
	trans[1][116]	= settr(227,2,125,45,45,"((((held&(1<<r))&&(where[r]==d_lane))&&(at[r]<needed[d_lane])))", 1, 2, 0); /* m: 117 -> 125,0 */
	reached1[117] = 1;
	trans[1][117]	= settr(0,0,0,0,0,"needed[d_lane] = at[r]",0,0,0);
	trans[1][121]	= settr(232,2,122,1,0,".(goto)", 1, 2, 0); /* m: 122 -> 0,125 */
	reached1[122] = 1;
	trans[1][118]	= settr(229,2,119,2,0,"else", 1, 2, 0);
	trans[1][119]	= settr(230,2,125,46,46,"(1)", 1, 2, 0); /* m: 122 -> 125,0 */
	reached1[122] = 1;
	trans[1][122]	= settr(233,2,125,47,47,"r = (r+1)", 1, 2, 0);
	trans[1][123]	= settr(234,2,128,2,0,"else", 1, 2, 0);
	trans[1][124]	= settr(235,2,128,1,0,"goto :b10", 1, 2, 0); /* m: 128 -> 0,131 */
	reached1[128] = 1;
	trans[1][127]	= settr(238,2,128,1,0,"break", 1, 2, 0);
	trans[1][128]	= settr(239,2,131,48,48,"d_lane = (d_lane+1)", 1, 2, 0);
	trans[1][129]	= settr(240,2,130,2,0,"else", 1, 2, 0);
	trans[1][130]	= settr(241,2,133,1,0,"goto :b9", 1, 2, 0);
	trans[1][133]	= settr(244,0,151,1,0,"break", 1, 2, 0);
	T = trans[1][151] = settr(262,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(262,0,146,0,0,"IF", 0, 2, 0);
#if 0
	/* dead link: */
	    T->nxt	= settr(262,0,147,0,0,"IF", 0, 2, 0);
#endif
	T = trans[ 1][146] = settr(257,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(257,2,135,0,0,"ATOMIC", 1, 2, 0);
	trans[1][135]	= settr(246,2,140,49,49,"in_file = (in_file|pending)", 1, 2, 0);
	T = trans[1][140] = settr(251,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(251,2,136,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(251,2,138,0,0,"IF", 1, 2, 0);
	trans[1][136]	= settr(247,0,153,50,50,"(announced_in_block)", 1, 2, 0); /* m: 137 -> 153,0 */
	reached1[137] = 1;
	trans[1][137]	= settr(0,0,0,0,0,"defined_in_file = (defined_in_file|(1<<chunk))",0,0,0);
	trans[1][141]	= settr(252,2,142,1,0,".(goto)", 1, 2, 0); /* m: 142 -> 0,153 */
	reached1[142] = 1;
	trans[1][138]	= settr(249,2,139,2,0,"else", 1, 2, 0);
	trans[1][139]	= settr(250,0,153,51,51,"(1)", 1, 2, 0); /* m: 142 -> 153,0 */
	reached1[142] = 1;
	trans[1][142]	= settr(253,0,153,52,52,"announced_in_block = 0", 1, 2, 0); /* m: 143 -> 0,153 */
	reached1[143] = 1;
	trans[1][143]	= settr(0,0,0,0,0,"positions[0] = needed[0]",0,0,0);
	trans[1][144]	= settr(0,0,0,0,0,"positions[1] = needed[1]",0,0,0);
	trans[1][145]	= settr(0,0,0,0,0,"failed = 0",0,0,0);
	trans[1][152]	= settr(263,0,153,1,0,".(goto)", 0, 2, 0);
	trans[1][147]	= settr(0,0,0,0,0,"(0)",0,0,0);
	T = trans[ 1][150] = settr(261,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(261,2,148,0,0,"ATOMIC", 1, 2, 0);
	trans[1][148]	= settr(259,0,153,53,53,"lost = (lost|pending)", 1, 2, 0); /* m: 149 -> 0,153 */
	reached1[149] = 1;
	trans[1][149]	= settr(0,0,0,0,0,"failed = 1",0,0,0);
	trans[1][153]	= settr(264,0,182,54,54,"pending = 0", 1, 2, 0);
	T = trans[1][182] = settr(293,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(293,0,154,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(293,0,180,0,0,"IF", 0, 2, 0);
	trans[1][154]	= settr(265,0,179,55,55,"((failed||0))", 0, 2, 0);
	T = trans[ 1][179] = settr(290,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(290,0,177,0,0,"sub-sequence", 0, 2, 0);
	T = trans[ 1][177] = settr(288,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(288,2,155,0,0,"ATOMIC", 1, 2, 0);
	trans[1][155]	= settr(266,2,160,56,56,"chunk = (chunk+1)", 1, 2, 0);
	T = trans[1][160] = settr(271,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(271,2,156,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(271,2,158,0,0,"IF", 1, 2, 0);
	trans[1][156]	= settr(267,2,175,57,57,"((((under_way[0]==0)||(under_way[0]==epoch))&&((under_way[1]==0)||(under_way[1]==epoch))))", 1, 2, 0); /* m: 157 -> 175,0 */
	reached1[157] = 1;
	trans[1][157]	= settr(0,0,0,0,0,"defined_before = defined_now",0,0,0);
	trans[1][161]	= settr(272,2,162,1,0,".(goto)", 1, 2, 0); /* m: 162 -> 0,175 */
	reached1[162] = 1;
	trans[1][158]	= settr(269,2,159,2,0,"else", 1, 2, 0);
	trans[1][159]	= settr(270,2,175,58,58,"defined_before = (defined_before||defined_now)", 1, 2, 0); /* m: 162 -> 0,175 */
	reached1[162] = 1;
	trans[1][162]	= settr(273,2,175,59,59,"defined_now = 0", 1, 2, 0); /* m: 163 -> 0,175 */
	reached1[163] = 1;
	trans[1][163]	= settr(0,0,0,0,0,"announced_in_block = 0",0,0,0);
	T = trans[1][175] = settr(286,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(286,2,164,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(286,2,173,0,0,"IF", 1, 2, 0);
	trans[1][164]	= settr(275,2,172,60,0,"((held!=0))", 1, 2, 0);
	T = trans[ 1][172] = settr(283,0,0,0,0,"sub-sequence", 1, 2, 0);
	T->nxt	= settr(283,0,170,0,0,"sub-sequence", 1, 2, 0);
	T = trans[1][170] = settr(281,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(281,2,165,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(281,2,168,0,0,"IF", 1, 2, 0);
	trans[1][165]	= settr(276,4,178,61,61,"((!(defined_now)&&defined_before))", 1, 2, 0); /* m: 166 -> 178,0 */
	reached1[166] = 1;
	trans[1][166]	= settr(0,0,0,0,0,"defined_now = 1",0,0,0);
	trans[1][167]	= settr(0,0,0,0,0,"announced_in_block = 1",0,0,0);
	trans[1][171]	= settr(282,4,178,62,62,".(goto)", 1, 2, 0); /* m: 176 -> 0,178 */
	reached1[176] = 1;
	trans[1][168]	= settr(279,2,169,2,0,"else", 1, 2, 0);
	trans[1][169]	= settr(280,4,178,63,63,"(1)", 1, 2, 0); /* m: 171 -> 178,0 */
	reached1[171] = 1;
	trans[1][176]	= settr(287,0,178,64,64,".(goto)", 1, 2, 0);
	trans[1][173]	= settr(284,2,174,2,0,"else", 1, 2, 0);
	trans[1][174]	= settr(285,4,178,65,65,"(1)", 1, 2, 0); /* m: 176 -> 178,0 */
	reached1[176] = 1;
	trans[1][178]	= settr(289,0,184,66,66,"epoch = (epoch+1)", 1, 2, 0);
	trans[1][183]	= settr(294,0,184,1,0,".(goto)", 0, 2, 0);
	trans[1][180]	= settr(291,0,181,2,0,"else", 0, 2, 0);
	trans[1][181]	= settr(292,0,184,1,0,"(1)", 0, 2, 0);
	trans[1][184]	= settr(295,0,185,67,67,"tail[0] = needed[0]", 1, 2, 0);
	trans[1][185]	= settr(296,0,265,68,68,"tail[1] = needed[1]", 1, 2, 0);
	trans[1][264]	= settr(375,0,265,1,0,".(goto)", 0, 2, 0); /* m: 265 -> 0,268 */
	reached1[265] = 1;
	T = trans[ 1][262] = settr(373,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(373,0,210,0,0,"sub-sequence", 0, 2, 0);
	T = trans[ 1][210] = settr(321,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(321,2,187,0,0,"ATOMIC", 1, 2, 0);
	trans[1][187]	= settr(298,2,207,69,69,"d_lane = 0", 1, 2, 0);
	trans[1][208]	= settr(319,2,207,1,0,".(goto)", 1, 2, 0);
	T = trans[1][207] = settr(318,2,0,0,0,"DO", 1, 2, 0);
	T = T->nxt	= settr(318,2,188,0,0,"DO", 1, 2, 0);
	    T->nxt	= settr(318,2,205,0,0,"DO", 1, 2, 0);
	trans[1][188]	= settr(299,2,201,70,70,"((d_lane<2))", 1, 2, 0); /* m: 189 -> 201,0 */
	reached1[189] = 1;
	trans[1][189]	= settr(0,0,0,0,0,"needed[d_lane] = scanned[d_lane]",0,0,0);
	trans[1][190]	= settr(0,0,0,0,0,"r = 0",0,0,0);
	trans[1][202]	= settr(313,2,201,1,0,".(goto)", 1, 2, 0);
	T = trans[1][201] = settr(312,2,0,0,0,"DO", 1, 2, 0);
	T = T->nxt	= settr(312,2,191,0,0,"DO", 1, 2, 0);
	    T->nxt	= settr(312,2,199,0,0,"DO", 1, 2, 0);
	trans[1][191]	= settr(302,2,196,71,0,"((r<(2*1)))", 1, 2, 0);
	T = trans[1][196] = settr(307,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(307,2,192,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(307,2,194,0,0,"IF", 1, 2, 0);
	trans[1][192]	= settr(303,2,201,72,72,"((((held&(1<<r))&&(where[r]==d_lane))&&(at[r]<needed[d_lane])))", 1, 2, 0); /* m: 193 -> 201,0 */
	reached1[193] = 1;
	trans[1][193]	= settr(0,0,0,0,0,"needed[d_lane] = at[r]",0,0,0);
	trans[1][197]	= settr(308,2,198,1,0,".(goto)", 1, 2, 0); /* m: 198 -> 0,201 */
	reached1[198] = 1;
	trans[1][194]	= settr(305,2,195,2,0,"else", 1, 2, 0);
	trans[1][195]	= settr(306,2,201,73,73,"(1)", 1, 2, 0); /* m: 198 -> 201,0 */
	reached1[198] = 1;
	trans[1][198]	= settr(309,2,201,74,74,"r = (r+1)", 1, 2, 0);
	trans[1][199]	= settr(310,2,204,2,0,"else", 1, 2, 0);
	trans[1][200]	= settr(311,2,204,1,0,"goto :b12", 1, 2, 0); /* m: 204 -> 0,207 */
	reached1[204] = 1;
	trans[1][203]	= settr(314,2,204,1,0,"break", 1, 2, 0);
	trans[1][204]	= settr(315,2,207,75,75,"d_lane = (d_lane+1)", 1, 2, 0);
	trans[1][205]	= settr(316,2,206,2,0,"else", 1, 2, 0);
	trans[1][206]	= settr(317,2,209,1,0,"goto :b11", 1, 2, 0);
	trans[1][209]	= settr(320,0,227,1,0,"break", 1, 2, 0);
	T = trans[1][227] = settr(338,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(338,0,222,0,0,"IF", 0, 2, 0);
#if 0
	/* dead link: */
	    T->nxt	= settr(338,0,223,0,0,"IF", 0, 2, 0);
#endif
	T = trans[ 1][222] = settr(333,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(333,2,211,0,0,"ATOMIC", 1, 2, 0);
	trans[1][211]	= settr(322,2,216,76,76,"in_file = (in_file|pending)", 1, 2, 0);
	T = trans[1][216] = settr(327,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(327,2,212,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(327,2,214,0,0,"IF", 1, 2, 0);
	trans[1][212]	= settr(323,0,229,77,77,"(announced_in_block)", 1, 2, 0); /* m: 213 -> 229,0 */
	reached1[213] = 1;
	trans[1][213]	= settr(0,0,0,0,0,"defined_in_file = (defined_in_file|(1<<chunk))",0,0,0);
	trans[1][217]	= settr(328,2,218,1,0,".(goto)", 1, 2, 0); /* m: 218 -> 0,229 */
	reached1[218] = 1;
	trans[1][214]	= settr(325,2,215,2,0,"else", 1, 2, 0);
	trans[1][215]	= settr(326,0,229,78,78,"(1)", 1, 2, 0); /* m: 218 -> 229,0 */
	reached1[218] = 1;
	trans[1][218]	= settr(329,0,229,79,79,"announced_in_block = 0", 1, 2, 0); /* m: 219 -> 0,229 */
	reached1[219] = 1;
	trans[1][219]	= settr(0,0,0,0,0,"positions[0] = needed[0]",0,0,0);
	trans[1][220]	= settr(0,0,0,0,0,"positions[1] = needed[1]",0,0,0);
	trans[1][221]	= settr(0,0,0,0,0,"failed = 0",0,0,0);
	trans[1][228]	= settr(339,0,229,1,0,".(goto)", 0, 2, 0);
	trans[1][223]	= settr(0,0,0,0,0,"(0)",0,0,0);
	T = trans[ 1][226] = settr(337,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(337,2,224,0,0,"ATOMIC", 1, 2, 0);
	trans[1][224]	= settr(335,0,229,80,80,"lost = (lost|pending)", 1, 2, 0); /* m: 225 -> 0,229 */
	reached1[225] = 1;
	trans[1][225]	= settr(0,0,0,0,0,"failed = 1",0,0,0);
	trans[1][229]	= settr(340,0,258,81,81,"pending = 0", 1, 2, 0);
	T = trans[1][258] = settr(369,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(369,0,230,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(369,0,256,0,0,"IF", 0, 2, 0);
	trans[1][230]	= settr(341,0,255,82,82,"((failed||1))", 0, 2, 0);
	T = trans[ 1][255] = settr(366,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(366,0,253,0,0,"sub-sequence", 0, 2, 0);
	T = trans[ 1][253] = settr(364,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(364,2,231,0,0,"ATOMIC", 1, 2, 0);
	trans[1][231]	= settr(342,2,236,83,83,"chunk = (chunk+1)", 1, 2, 0);
	T = trans[1][236] = settr(347,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(347,2,232,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(347,2,234,0,0,"IF", 1, 2, 0);
	trans[1][232]	= settr(343,2,251,84,84,"((((under_way[0]==0)||(under_way[0]==epoch))&&((under_way[1]==0)||(under_way[1]==epoch))))", 1, 2, 0); /* m: 233 -> 251,0 */
	reached1[233] = 1;
	trans[1][233]	= settr(0,0,0,0,0,"defined_before = defined_now",0,0,0);
	trans[1][237]	= settr(348,2,238,1,0,".(goto)", 1, 2, 0); /* m: 238 -> 0,251 */
	reached1[238] = 1;
	trans[1][234]	= settr(345,2,235,2,0,"else", 1, 2, 0);
	trans[1][235]	= settr(346,2,251,85,85,"defined_before = (defined_before||defined_now)", 1, 2, 0); /* m: 238 -> 0,251 */
	reached1[238] = 1;
	trans[1][238]	= settr(349,2,251,86,86,"defined_now = 0", 1, 2, 0); /* m: 239 -> 0,251 */
	reached1[239] = 1;
	trans[1][239]	= settr(0,0,0,0,0,"announced_in_block = 0",0,0,0);
	T = trans[1][251] = settr(362,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(362,2,240,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(362,2,249,0,0,"IF", 1, 2, 0);
	trans[1][240]	= settr(351,2,248,87,0,"((held!=0))", 1, 2, 0);
	T = trans[ 1][248] = settr(359,0,0,0,0,"sub-sequence", 1, 2, 0);
	T->nxt	= settr(359,0,246,0,0,"sub-sequence", 1, 2, 0);
	T = trans[1][246] = settr(357,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(357,2,241,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(357,2,244,0,0,"IF", 1, 2, 0);
	trans[1][241]	= settr(352,4,254,88,88,"((!(defined_now)&&defined_before))", 1, 2, 0); /* m: 242 -> 254,0 */
	reached1[242] = 1;
	trans[1][242]	= settr(0,0,0,0,0,"defined_now = 1",0,0,0);
	trans[1][243]	= settr(0,0,0,0,0,"announced_in_block = 1",0,0,0);
	trans[1][247]	= settr(358,4,254,89,89,".(goto)", 1, 2, 0); /* m: 252 -> 0,254 */
	reached1[252] = 1;
	trans[1][244]	= settr(355,2,245,2,0,"else", 1, 2, 0);
	trans[1][245]	= settr(356,4,254,90,90,"(1)", 1, 2, 0); /* m: 247 -> 254,0 */
	reached1[247] = 1;
	trans[1][252]	= settr(363,0,254,91,91,".(goto)", 1, 2, 0);
	trans[1][249]	= settr(360,2,250,2,0,"else", 1, 2, 0);
	trans[1][250]	= settr(361,4,254,92,92,"(1)", 1, 2, 0); /* m: 252 -> 254,0 */
	reached1[252] = 1;
	trans[1][254]	= settr(365,0,260,93,93,"epoch = (epoch+1)", 1, 2, 0);
	trans[1][259]	= settr(370,0,260,1,0,".(goto)", 0, 2, 0);
	trans[1][256]	= settr(367,0,257,2,0,"else", 0, 2, 0);
	trans[1][257]	= settr(368,0,260,1,0,"(1)", 0, 2, 0);
	trans[1][260]	= settr(371,0,261,94,94,"tail[0] = needed[0]", 1, 2, 0);
	trans[1][261]	= settr(372,0,265,95,95,"tail[1] = needed[1]", 1, 2, 0);
	trans[1][265]	= settr(376,0,268,96,96,"block = (block+1)", 0, 2, 0);
	trans[1][266]	= settr(377,0,271,2,0,"else", 0, 2, 0);
	trans[1][267]	= settr(378,0,271,1,0,"goto :b3", 0, 2, 0);
	trans[1][270]	= settr(381,0,271,1,0,"break", 0, 2, 0);
	trans[1][271]	= settr(382,0,309,97,0,"((live_writers==0))", 1, 2, 0);
	T = trans[ 1][309] = settr(420,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(420,0,272,0,0,"sub-sequence", 0, 2, 0);
	trans[1][272]	= settr(383,0,306,98,98,"d_lane = 0", 0, 2, 0);
	trans[1][307]	= settr(418,0,306,1,0,".(goto)", 0, 2, 0);
	T = trans[1][306] = settr(417,0,0,0,0,"DO", 0, 2, 0);
	T = T->nxt	= settr(417,0,273,0,0,"DO", 0, 2, 0);
	    T->nxt	= settr(417,0,304,0,0,"DO", 0, 2, 0);
	trans[1][273]	= settr(384,0,274,99,0,"((d_lane<2))", 0, 2, 0);
	trans[1][274]	= settr(385,0,302,100,100,"d_head = head[d_lane]", 1, 2, 0);
	T = trans[ 1][302] = settr(413,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(413,2,299,0,0,"ATOMIC", 1, 2, 0);
	trans[1][300]	= settr(411,2,299,1,0,".(goto)", 1, 2, 0);
	T = trans[1][299] = settr(410,2,0,0,0,"DO", 1, 2, 0);
	T = T->nxt	= settr(410,2,275,0,0,"DO", 1, 2, 0);
	    T->nxt	= settr(410,2,297,0,0,"DO", 1, 2, 0);
	trans[1][275]	= settr(386,2,294,101,101,"((scanned[d_lane]<d_head))", 1, 2, 0); /* m: 276 -> 294,0 */
	reached1[276] = 1;
	trans[1][276]	= settr(0,0,0,0,0,"r = slots[((d_lane*4)+(scanned[d_lane]%4))]",0,0,0);
	T = trans[1][294] = settr(405,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(405,2,277,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(405,2,284,0,0,"IF", 1, 2, 0);
	trans[1][277]	= settr(388,2,282,102,102,"((r==15))", 1, 2, 0);
	T = trans[1][282] = settr(393,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(393,2,278,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(393,2,281,0,0,"IF", 1, 2, 0);
	trans[1][278]	= settr(389,2,299,103,103,"(!(defined_now))", 1, 2, 0); /* m: 279 -> 299,0 */
	reached1[279] = 1;
	trans[1][279]	= settr(0,0,0,0,0,"defined_now = 1",0,0,0);
	trans[1][280]	= settr(0,0,0,0,0,"announced_in_block = 1",0,0,0);
	trans[1][283]	= settr(394,2,296,1,0,".(goto)", 1, 2, 0); /* m: 296 -> 0,299 */
	reached1[296] = 1;
	trans[1][281]	= settr(392,2,296,2,0,"else", 1, 2, 0);
	trans[1][295]	= settr(406,2,296,1,0,".(goto)", 1, 2, 0); /* m: 296 -> 0,299 */
	reached1[296] = 1;
	trans[1][284]	= settr(395,2,288,2,0,"else", 1, 2, 0);
	T = trans[1][288] = settr(399,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(399,2,285,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(399,2,287,0,0,"IF", 1, 2, 0);
	trans[1][285]	= settr(396,2,299,104,104,"((last[d_lane]<255))", 1, 2, 0); /* m: 286 -> 299,0 */
	reached1[286] = 1;
	trans[1][286]	= settr(0,0,0,0,0,"assert((born[last[d_lane]]<=born[r]))",0,0,0);
	trans[1][289]	= settr(400,2,290,1,0,".(goto)", 1, 2, 0); /* m: 290 -> 0,299 */
	reached1[290] = 1;
	trans[1][287]	= settr(398,2,290,2,0,"else", 1, 2, 0);
	trans[1][290]	= settr(401,2,299,105,105,"last[d_lane] = r", 1, 2, 0); /* m: 291 -> 0,299 */
	reached1[291] = 1;
	trans[1][291]	= settr(0,0,0,0,0,"held = (held|(1<<r))",0,0,0);
	trans[1][292]	= settr(0,0,0,0,0,"at[r] = scanned[d_lane]",0,0,0);
	trans[1][293]	= settr(0,0,0,0,0,"where[r] = d_lane",0,0,0);
	trans[1][296]	= settr(407,2,299,106,106,"scanned[d_lane] = (scanned[d_lane]+1)", 1, 2, 0);
	trans[1][297]	= settr(408,2,298,2,0,"else", 1, 2, 0);
	trans[1][298]	= settr(409,2,301,1,0,"goto :b14", 1, 2, 0);
	trans[1][301]	= settr(412,0,303,1,0,"break", 1, 2, 0);
	trans[1][303]	= settr(414,0,306,107,107,"d_lane = (d_lane+1)", 0, 2, 0);
	trans[1][304]	= settr(415,0,335,2,0,"else", 0, 2, 0);
	trans[1][305]	= settr(416,0,335,1,0,"goto :b13", 0, 2, 0);
	trans[1][308]	= settr(419,0,335,1,0,"break", 0, 2, 0);
	T = trans[ 1][335] = settr(446,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(446,0,334,0,0,"sub-sequence", 0, 2, 0);
	T = trans[ 1][334] = settr(445,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(445,2,310,0,0,"ATOMIC", 1, 2, 0);
	trans[1][310]	= settr(421,2,331,108,108,"r = 0", 1, 2, 0);
	trans[1][332]	= settr(443,2,331,1,0,".(goto)", 1, 2, 0);
	T = trans[1][331] = settr(442,2,0,0,0,"DO", 1, 2, 0);
	T = T->nxt	= settr(442,2,311,0,0,"DO", 1, 2, 0);
	    T->nxt	= settr(442,2,329,0,0,"DO", 1, 2, 0);
	trans[1][311]	= settr(422,2,326,109,0,"((r<(2*1)))", 1, 2, 0);
	T = trans[1][326] = settr(437,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(437,2,312,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(437,2,324,0,0,"IF", 1, 2, 0);
	trans[1][312]	= settr(423,2,320,110,0,"(((held&(1<<r))&&(1||(born[r]<interval))))", 1, 2, 0);
	T = trans[ 1][320] = settr(431,0,0,0,0,"sub-sequence", 1, 2, 0);
	T->nxt	= settr(431,0,318,0,0,"sub-sequence", 1, 2, 0);
	T = trans[1][318] = settr(429,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(429,2,313,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(429,2,316,0,0,"IF", 1, 2, 0);
	trans[1][313]	= settr(424,2,331,111,111,"((!(defined_now)&&defined_before))", 1, 2, 0); /* m: 314 -> 331,0 */
	reached1[314] = 1;
	trans[1][314]	= settr(0,0,0,0,0,"defined_now = 1",0,0,0);
	trans[1][315]	= settr(0,0,0,0,0,"announced_in_block = 1",0,0,0);
	trans[1][319]	= settr(430,2,321,1,0,".(goto)", 1, 2, 0); /* m: 321 -> 0,331 */
	reached1[321] = 1;
	trans[1][316]	= settr(427,2,317,2,0,"else", 1, 2, 0);
	trans[1][317]	= settr(428,2,331,112,112,"(1)", 1, 2, 0); /* m: 321 -> 331,0 */
	reached1[321] = 1;
	trans[1][321]	= settr(432,2,331,113,113,"assert(defined_now)", 1, 2, 0); /* m: 322 -> 0,331 */
	reached1[322] = 1;
	trans[1][322]	= settr(0,0,0,0,0,"held = (held&~((1<<r)))",0,0,0);
	trans[1][323]	= settr(0,0,0,0,0,"pending = (pending|(1<<r))",0,0,0);
	trans[1][327]	= settr(438,2,328,1,0,".(goto)", 1, 2, 0); /* m: 328 -> 0,331 */
	reached1[328] = 1;
	trans[1][324]	= settr(435,2,325,2,0,"else", 1, 2, 0);
	trans[1][325]	= settr(436,2,331,114,114,"(1)", 1, 2, 0); /* m: 328 -> 331,0 */
	reached1[328] = 1;
	trans[1][328]	= settr(439,2,331,115,115,"r = (r+1)", 1, 2, 0);
	trans[1][329]	= settr(440,2,330,2,0,"else", 1, 2, 0);
	trans[1][330]	= settr(441,2,333,1,0,"goto :b15", 1, 2, 0);
	trans[1][333]	= settr(444,0,411,1,0,"break", 1, 2, 0);
	T = trans[ 1][411] = settr(522,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(522,0,359,0,0,"sub-sequence", 0, 2, 0);
	T = trans[ 1][359] = settr(470,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(470,2,336,0,0,"ATOMIC", 1, 2, 0);
	trans[1][336]	= settr(447,2,356,116,116,"d_lane = 0", 1, 2, 0);
	trans[1][357]	= settr(468,2,356,1,0,".(goto)", 1, 2, 0);
	T = trans[1][356] = settr(467,2,0,0,0,"DO", 1, 2, 0);
	T = T->nxt	= settr(467,2,337,0,0,"DO", 1, 2, 0);
	    T->nxt	= settr(467,2,354,0,0,"DO", 1, 2, 0);
	trans[1][337]	= settr(448,2,350,117,117,"((d_lane<2))", 1, 2, 0); /* m: 338 -> 350,0 */
	reached1[338] = 1;
	trans[1][338]	= settr(0,0,0,0,0,"needed[d_lane] = scanned[d_lane]",0,0,0);
	trans[1][339]	= settr(0,0,0,0,0,"r = 0",0,0,0);
	trans[1][351]	= settr(462,2,350,1,0,".(goto)", 1, 2, 0);
	T = trans[1][350] = settr(461,2,0,0,0,"DO", 1, 2, 0);
	T = T->nxt	= settr(461,2,340,0,0,"DO", 1, 2, 0);
	    T->nxt	= settr(461,2,348,0,0,"DO", 1, 2, 0);
	trans[1][340]	= settr(451,2,345,118,0,"((r<(2*1)))", 1, 2, 0);
	T = trans[1][345] = settr(456,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(456,2,341,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(456,2,343,0,0,"IF", 1, 2, 0);
	trans[1][341]	= settr(452,2,350,119,119,"((((held&(1<<r))&&(where[r]==d_lane))&&(at[r]<needed[d_lane])))", 1, 2, 0); /* m: 342 -> 350,0 */
	reached1[342] = 1;
	trans[1][342]	= settr(0,0,0,0,0,"needed[d_lane] = at[r]",0,0,0);
	trans[1][346]	= settr(457,2,347,1,0,".(goto)", 1, 2, 0); /* m: 347 -> 0,350 */
	reached1[347] = 1;
	trans[1][343]	= settr(454,2,344,2,0,"else", 1, 2, 0);
	trans[1][344]	= settr(455,2,350,120,120,"(1)", 1, 2, 0); /* m: 347 -> 350,0 */
	reached1[347] = 1;
	trans[1][347]	= settr(458,2,350,121,121,"r = (r+1)", 1, 2, 0);
	trans[1][348]	= settr(459,2,353,2,0,"else", 1, 2, 0);
	trans[1][349]	= settr(460,2,353,1,0,"goto :b17", 1, 2, 0); /* m: 353 -> 0,356 */
	reached1[353] = 1;
	trans[1][352]	= settr(463,2,353,1,0,"break", 1, 2, 0);
	trans[1][353]	= settr(464,2,356,122,122,"d_lane = (d_lane+1)", 1, 2, 0);
	trans[1][354]	= settr(465,2,355,2,0,"else", 1, 2, 0);
	trans[1][355]	= settr(466,2,358,1,0,"goto :b16", 1, 2, 0);
	trans[1][358]	= settr(469,0,376,1,0,"break", 1, 2, 0);
	T = trans[1][376] = settr(487,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(487,0,371,0,0,"IF", 0, 2, 0);
#if 0
	/* dead link: */
	    T->nxt	= settr(487,0,372,0,0,"IF", 0, 2, 0);
#endif
	T = trans[ 1][371] = settr(482,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(482,2,360,0,0,"ATOMIC", 1, 2, 0);
	trans[1][360]	= settr(471,2,365,123,123,"in_file = (in_file|pending)", 1, 2, 0);
	T = trans[1][365] = settr(476,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(476,2,361,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(476,2,363,0,0,"IF", 1, 2, 0);
	trans[1][361]	= settr(472,0,378,124,124,"(announced_in_block)", 1, 2, 0); /* m: 362 -> 378,0 */
	reached1[362] = 1;
	trans[1][362]	= settr(0,0,0,0,0,"defined_in_file = (defined_in_file|(1<<chunk))",0,0,0);
	trans[1][366]	= settr(477,2,367,1,0,".(goto)", 1, 2, 0); /* m: 367 -> 0,378 */
	reached1[367] = 1;
	trans[1][363]	= settr(474,2,364,2,0,"else", 1, 2, 0);
	trans[1][364]	= settr(475,0,378,125,125,"(1)", 1, 2, 0); /* m: 367 -> 378,0 */
	reached1[367] = 1;
	trans[1][367]	= settr(478,0,378,126,126,"announced_in_block = 0", 1, 2, 0); /* m: 368 -> 0,378 */
	reached1[368] = 1;
	trans[1][368]	= settr(0,0,0,0,0,"positions[0] = needed[0]",0,0,0);
	trans[1][369]	= settr(0,0,0,0,0,"positions[1] = needed[1]",0,0,0);
	trans[1][370]	= settr(0,0,0,0,0,"failed = 0",0,0,0);
	trans[1][377]	= settr(488,0,378,1,0,".(goto)", 0, 2, 0);
	trans[1][372]	= settr(0,0,0,0,0,"(0)",0,0,0);
	T = trans[ 1][375] = settr(486,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(486,2,373,0,0,"ATOMIC", 1, 2, 0);
	trans[1][373]	= settr(484,0,378,127,127,"lost = (lost|pending)", 1, 2, 0); /* m: 374 -> 0,378 */
	reached1[374] = 1;
	trans[1][374]	= settr(0,0,0,0,0,"failed = 1",0,0,0);
	trans[1][378]	= settr(489,0,407,128,128,"pending = 0", 1, 2, 0);
	T = trans[1][407] = settr(518,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(518,0,379,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(518,0,405,0,0,"IF", 0, 2, 0);
	trans[1][379]	= settr(490,0,404,129,129,"((failed||0))", 0, 2, 0);
	T = trans[ 1][404] = settr(515,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(515,0,402,0,0,"sub-sequence", 0, 2, 0);
	T = trans[ 1][402] = settr(513,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(513,2,380,0,0,"ATOMIC", 1, 2, 0);
	trans[1][380]	= settr(491,2,385,130,130,"chunk = (chunk+1)", 1, 2, 0);
	T = trans[1][385] = settr(496,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(496,2,381,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(496,2,383,0,0,"IF", 1, 2, 0);
	trans[1][381]	= settr(492,2,400,131,131,"((((under_way[0]==0)||(under_way[0]==epoch))&&((under_way[1]==0)||(under_way[1]==epoch))))", 1, 2, 0); /* m: 382 -> 400,0 */
	reached1[382] = 1;
	trans[1][382]	= settr(0,0,0,0,0,"defined_before = defined_now",0,0,0);
	trans[1][386]	= settr(497,2,387,1,0,".(goto)", 1, 2, 0); /* m: 387 -> 0,400 */
	reached1[387] = 1;
	trans[1][383]	= settr(494,2,384,2,0,"else", 1, 2, 0);
	trans[1][384]	= settr(495,2,400,132,132,"defined_before = (defined_before||defined_now)", 1, 2, 0); /* m: 387 -> 0,400 */
	reached1[387] = 1;
	trans[1][387]	= settr(498,2,400,133,133,"defined_now = 0", 1, 2, 0); /* m: 388 -> 0,400 */
	reached1[388] = 1;
	trans[1][388]	= settr(0,0,0,0,0,"announced_in_block = 0",0,0,0);
	T = trans[1][400] = settr(511,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(511,2,389,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(511,2,398,0,0,"IF", 1, 2, 0);
	trans[1][389]	= settr(500,2,397,134,0,"((held!=0))", 1, 2, 0);
	T = trans[ 1][397] = settr(508,0,0,0,0,"sub-sequence", 1, 2, 0);
	T->nxt	= settr(508,0,395,0,0,"sub-sequence", 1, 2, 0);
	T = trans[1][395] = settr(506,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(506,2,390,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(506,2,393,0,0,"IF", 1, 2, 0);
	trans[1][390]	= settr(501,4,403,135,135,"((!(defined_now)&&defined_before))", 1, 2, 0); /* m: 391 -> 403,0 */
	reached1[391] = 1;
	trans[1][391]	= settr(0,0,0,0,0,"defined_now = 1",0,0,0);
	trans[1][392]	= settr(0,0,0,0,0,"announced_in_block = 1",0,0,0);
	trans[1][396]	= settr(507,4,403,136,136,".(goto)", 1, 2, 0); /* m: 401 -> 0,403 */
	reached1[401] = 1;
	trans[1][393]	= settr(504,2,394,2,0,"else", 1, 2, 0);
	trans[1][394]	= settr(505,4,403,137,137,"(1)", 1, 2, 0); /* m: 396 -> 403,0 */
	reached1[396] = 1;
	trans[1][401]	= settr(512,0,403,138,138,".(goto)", 1, 2, 0);
	trans[1][398]	= settr(509,2,399,2,0,"else", 1, 2, 0);
	trans[1][399]	= settr(510,4,403,139,139,"(1)", 1, 2, 0); /* m: 401 -> 403,0 */
	reached1[401] = 1;
	trans[1][403]	= settr(514,0,409,140,140,"epoch = (epoch+1)", 1, 2, 0);
	trans[1][408]	= settr(519,0,409,1,0,".(goto)", 0, 2, 0);
	trans[1][405]	= settr(516,0,406,2,0,"else", 0, 2, 0);
	trans[1][406]	= settr(517,0,409,1,0,"(1)", 0, 2, 0);
	trans[1][409]	= settr(520,0,410,141,141,"tail[0] = needed[0]", 1, 2, 0);
	trans[1][410]	= settr(521,0,412,142,142,"tail[1] = needed[1]", 1, 2, 0);
	trans[1][412]	= settr(523,0,413,143,143,"ended = 1", 1, 2, 0);
	trans[1][413]	= settr(524,0,0,144,144,"-end-", 0, 3500, 0);

	/* proctype 0: Writer */

	trans[0] = (Trans **) emalloc(113*sizeof(Trans *));

	trans[0][1]	= settr(0,0,108,145,145,"n = 0", 0, 2, 0);
	trans[0][109]	= settr(108,0,108,1,0,".(goto)", 0, 2, 0);
	T = trans[0][108] = settr(107,0,0,0,0,"DO", 0, 2, 0);
	T = T->nxt	= settr(107,0,2,0,0,"DO", 0, 2, 0);
	    T->nxt	= settr(107,0,106,0,0,"DO", 0, 2, 0);
	trans[0][2]	= settr(1,0,5,146,0,"((n<1))", 0, 2, 0);
	T = trans[ 0][5] = settr(4,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(4,2,3,0,0,"ATOMIC", 1, 2, 0);
	trans[0][3]	= settr(2,4,56,147,147,"seen = epoch", 1, 2, 0); /* m: 4 -> 0,56 */
	reached0[4] = 1;
	trans[0][4]	= settr(0,0,0,0,0,"under_way[(first/1)] = seen",0,0,0);
	T = trans[0][56] = settr(55,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(55,0,6,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(55,0,8,0,0,"IF", 0, 2, 0);
	trans[0][6]	= settr(5,0,7,148,148,"((announced==seen))", 1, 2, 0);
	trans[0][7]	= settr(6,0,90,1,0,"(1)", 0, 2, 0);
	trans[0][57]	= settr(56,0,90,1,0,".(goto)", 0, 2, 0);
	trans[0][8]	= settr(7,0,41,2,0,"else", 0, 2, 0);
	T = trans[ 0][41] = settr(40,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(40,0,9,0,0,"sub-sequence", 0, 2, 0);
	trans[0][9]	= settr(8,0,27,149,149,"mine = 2", 0, 2, 0); /* m: 10 -> 0,27 */
	reached0[10] = 1;
	trans[0][10]	= settr(0,0,0,0,0,"i = 0",0,0,0);
	trans[0][28]	= settr(27,0,27,1,0,".(goto)", 0, 2, 0);
	T = trans[0][27] = settr(26,0,0,0,0,"DO", 0, 2, 0);
	T = T->nxt	= settr(26,0,11,0,0,"DO", 0, 2, 0);
	    T->nxt	= settr(26,0,25,0,0,"DO", 0, 2, 0);
	trans[0][11]	= settr(10,0,24,150,0,"((i<2))", 0, 2, 0);
	T = trans[ 0][24] = settr(23,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(23,2,12,0,0,"ATOMIC", 1, 2, 0);
	trans[0][12]	= settr(11,2,22,151,151,"l = ((_pid+i)%2)", 1, 2, 0); /* m: 13 -> 0,22 */
	reached0[13] = 1;
	trans[0][13]	= settr(0,0,0,0,0,"i = (i+1)",0,0,0);
	T = trans[0][22] = settr(21,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(21,2,14,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(21,2,16,0,0,"IF", 1, 2, 0);
	trans[0][14]	= settr(13,2,15,152,152,"(lease[l])", 1, 2, 0);
	trans[0][15]	= settr(14,0,27,153,153,"(1)", 1, 2, 0); /* m: 23 -> 27,0 */
	reached0[23] = 1;
	trans[0][23]	= settr(22,0,27,1,0,".(goto)", 1, 2, 0);
	trans[0][16]	= settr(15,2,17,2,0,"else", 1, 2, 0);
	trans[0][17]	= settr(16,4,29,154,154,"lease[l] = 1", 1, 2, 0); /* m: 18 -> 0,29 */
	reached0[18] = 1;
	trans[0][18]	= settr(0,0,0,0,0,"writers_in[l] = (writers_in[l]+1)",0,0,0);
	trans[0][19]	= settr(0,0,0,0,0,"assert((writers_in[l]==1))",0,0,0);
	trans[0][20]	= settr(0,0,0,0,0,"mine = l",0,0,0);
	trans[0][21]	= settr(20,0,40,1,0,"goto :b1", 1, 2, 0); /* m: 40 -> 0,29 */
	reached0[40] = 1;
	trans[0][25]	= settr(24,0,40,2,0,"else", 0, 2, 0);
	trans[0][26]	= settr(25,0,40,1,0,"goto :b1", 0, 2, 0);
	trans[0][29]	= settr(28,0,40,1,0,"break", 0, 2, 0);
	T = trans[ 0][40] = settr(39,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(39,2,36,0,0,"ATOMIC", 1, 2, 0);
	T = trans[0][36] = settr(35,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(35,2,30,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(35,2,34,0,0,"IF", 1, 2, 0);
	trans[0][30]	= settr(29,4,47,155,155,"(((mine<2)&&(((head[mine]-tail[mine])+1)>4)))", 1, 2, 0); /* m: 31 -> 47,0 */
	reached0[31] = 1;
	trans[0][31]	= settr(0,0,0,0,0,"writers_in[mine] = (writers_in[mine]-1)",0,0,0);
	trans[0][32]	= settr(0,0,0,0,0,"lease[mine] = 0",0,0,0);
	trans[0][33]	= settr(0,0,0,0,0,"mine = 2",0,0,0);
	trans[0][37]	= settr(36,2,38,1,0,".(goto)", 1, 2, 0); /* m: 38 -> 0,47 */
	reached0[38] = 1;
	trans[0][34]	= settr(33,2,35,2,0,"else", 1, 2, 0);
	trans[0][35]	= settr(34,4,47,156,156,"(1)", 1, 2, 0); /* m: 38 -> 47,0 */
	reached0[38] = 1;
	trans[0][38]	= settr(37,4,47,157,157,"i = 0", 1, 2, 0); /* m: 39 -> 0,47 */
	reached0[39] = 1;
	trans[0][39]	= settr(0,0,0,0,0,"l = 0",0,0,0);
	T = trans[0][47] = settr(46,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(46,0,42,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(46,0,45,0,0,"IF", 0, 2, 0);
	trans[0][42]	= settr(41,0,105,158,158,"((mine==2))", 0, 2, 0); /* m: 43 -> 105,0 */
	reached0[43] = 1;
	trans[0][43]	= settr(0,0,0,0,0,"n = (n+1)",0,0,0);
	trans[0][44]	= settr(43,0,105,1,0,"goto next", 0, 2, 0);
	trans[0][48]	= settr(47,0,49,1,0,".(goto)", 0, 2, 0);
	trans[0][45]	= settr(44,0,46,2,0,"else", 0, 2, 0);
	trans[0][46]	= settr(45,0,49,1,0,"(1)", 0, 2, 0);
	trans[0][49]	= settr(48,0,50,159,159,"slots[((mine*4)+(head[mine]%4))] = 15", 1, 2, 0);
	trans[0][50]	= settr(49,0,54,160,160,"head[mine] = (head[mine]+1)", 1, 2, 0);
	T = trans[ 0][54] = settr(53,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(53,0,53,0,0,"sub-sequence", 0, 2, 0);
	T = trans[ 0][53] = settr(52,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(52,2,51,0,0,"ATOMIC", 1, 2, 0);
	trans[0][51]	= settr(50,4,55,161,161,"writers_in[mine] = (writers_in[mine]-1)", 1, 2, 0); /* m: 52 -> 0,55 */
	reached0[52] = 1;
	trans[0][52]	= settr(0,0,0,0,0,"lease[mine] = 0",0,0,0);
	trans[0][55]	= settr(54,0,90,162,162,"announced = seen", 1, 2, 0);
	T = trans[ 0][90] = settr(89,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(89,0,58,0,0,"sub-sequence", 0, 2, 0);
	trans[0][58]	= settr(57,0,76,163,163,"mine = 2", 0, 2, 0); /* m: 59 -> 0,76 */
	reached0[59] = 1;
	trans[0][59]	= settr(0,0,0,0,0,"i = 0",0,0,0);
	trans[0][77]	= settr(76,0,76,1,0,".(goto)", 0, 2, 0);
	T = trans[0][76] = settr(75,0,0,0,0,"DO", 0, 2, 0);
	T = T->nxt	= settr(75,0,60,0,0,"DO", 0, 2, 0);
	    T->nxt	= settr(75,0,74,0,0,"DO", 0, 2, 0);
	trans[0][60]	= settr(59,0,73,164,0,"((i<2))", 0, 2, 0);
	T = trans[ 0][73] = settr(72,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(72,2,61,0,0,"ATOMIC", 1, 2, 0);
	trans[0][61]	= settr(60,2,71,165,165,"l = ((_pid+i)%2)", 1, 2, 0); /* m: 62 -> 0,71 */
	reached0[62] = 1;
	trans[0][62]	= settr(0,0,0,0,0,"i = (i+1)",0,0,0);
	T = trans[0][71] = settr(70,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(70,2,63,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(70,2,65,0,0,"IF", 1, 2, 0);
	trans[0][63]	= settr(62,2,64,166,166,"(lease[l])", 1, 2, 0);
	trans[0][64]	= settr(63,0,76,167,167,"(1)", 1, 2, 0); /* m: 72 -> 76,0 */
	reached0[72] = 1;
	trans[0][72]	= settr(71,0,76,1,0,".(goto)", 1, 2, 0);
	trans[0][65]	= settr(64,2,66,2,0,"else", 1, 2, 0);
	trans[0][66]	= settr(65,4,78,168,168,"lease[l] = 1", 1, 2, 0); /* m: 67 -> 0,78 */
	reached0[67] = 1;
	trans[0][67]	= settr(0,0,0,0,0,"writers_in[l] = (writers_in[l]+1)",0,0,0);
	trans[0][68]	= settr(0,0,0,0,0,"assert((writers_in[l]==1))",0,0,0);
	trans[0][69]	= settr(0,0,0,0,0,"mine = l",0,0,0);
	trans[0][70]	= settr(69,0,89,1,0,"goto :b2", 1, 2, 0); /* m: 89 -> 0,78 */
	reached0[89] = 1;
	trans[0][74]	= settr(73,0,89,2,0,"else", 0, 2, 0);
	trans[0][75]	= settr(74,0,89,1,0,"goto :b2", 0, 2, 0);
	trans[0][78]	= settr(77,0,89,1,0,"break", 0, 2, 0);
	T = trans[ 0][89] = settr(88,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(88,2,85,0,0,"ATOMIC", 1, 2, 0);
	T = trans[0][85] = settr(84,2,0,0,0,"IF", 1, 2, 0);
	T = T->nxt	= settr(84,2,79,0,0,"IF", 1, 2, 0);
	    T->nxt	= settr(84,2,83,0,0,"IF", 1, 2, 0);
	trans[0][79]	= settr(78,4,102,169,169,"(((mine<2)&&(((head[mine]-tail[mine])+1)>4)))", 1, 2, 0); /* m: 80 -> 102,0 */
	reached0[80] = 1;
	trans[0][80]	= settr(0,0,0,0,0,"writers_in[mine] = (writers_in[mine]-1)",0,0,0);
	trans[0][81]	= settr(0,0,0,0,0,"lease[mine] = 0",0,0,0);
	trans[0][82]	= settr(0,0,0,0,0,"mine = 2",0,0,0);
	trans[0][86]	= settr(85,2,87,1,0,".(goto)", 1, 2, 0); /* m: 87 -> 0,102 */
	reached0[87] = 1;
	trans[0][83]	= settr(82,2,84,2,0,"else", 1, 2, 0);
	trans[0][84]	= settr(83,4,102,170,170,"(1)", 1, 2, 0); /* m: 87 -> 102,0 */
	reached0[87] = 1;
	trans[0][87]	= settr(86,4,102,171,171,"i = 0", 1, 2, 0); /* m: 88 -> 0,102 */
	reached0[88] = 1;
	trans[0][88]	= settr(0,0,0,0,0,"l = 0",0,0,0);
	T = trans[0][102] = settr(101,0,0,0,0,"IF", 0, 2, 0);
	T = T->nxt	= settr(101,0,91,0,0,"IF", 0, 2, 0);
	    T->nxt	= settr(101,0,100,0,0,"IF", 0, 2, 0);
	trans[0][91]	= settr(90,0,92,172,0,"((mine<2))", 0, 2, 0);
	trans[0][92]	= settr(91,0,93,173,173,"born[(first+n)] = interval", 1, 2, 0);
	trans[0][93]	= settr(92,0,94,174,174,"slots[((mine*4)+(head[mine]%4))] = (first+n)", 1, 2, 0);
	trans[0][94]	= settr(93,0,95,175,175,"head[mine] = (head[mine]+1)", 1, 2, 0);
	trans[0][95]	= settr(94,0,99,176,176,"acknowledged = (acknowledged|(1<<(first+n)))", 1, 2, 0);
	T = trans[ 0][99] = settr(98,0,0,0,0,"sub-sequence", 0, 2, 0);
	T->nxt	= settr(98,0,98,0,0,"sub-sequence", 0, 2, 0);
	T = trans[ 0][98] = settr(97,2,0,0,0,"ATOMIC", 1, 2, 0);
	T->nxt	= settr(97,2,96,0,0,"ATOMIC", 1, 2, 0);
	trans[0][96]	= settr(95,0,105,177,177,"writers_in[mine] = (writers_in[mine]-1)", 1, 2, 0); /* m: 97 -> 0,105 */
	reached0[97] = 1;
	trans[0][97]	= settr(0,0,0,0,0,"lease[mine] = 0",0,0,0);
	trans[0][103]	= settr(102,0,104,1,0,".(goto)", 0, 2, 0); /* m: 104 -> 0,105 */
	reached0[104] = 1;
	trans[0][100]	= settr(99,0,101,2,0,"else", 0, 2, 0);
	trans[0][101]	= settr(100,0,105,178,178,"(1)", 0, 2, 0); /* m: 104 -> 105,0 */
	reached0[104] = 1;
	trans[0][104]	= settr(103,0,105,179,179,"n = (n+1)", 0, 2, 0);
	trans[0][105]	= settr(104,0,108,180,180,"under_way[(first/1)] = 0", 1, 2, 0);
	trans[0][106]	= settr(105,0,111,2,0,"else", 0, 2, 0);
	trans[0][107]	= settr(106,0,111,1,0,"goto :b0", 0, 2, 0);
	trans[0][110]	= settr(109,0,111,1,0,"break", 0, 2, 0);
	trans[0][111]	= settr(110,0,112,181,181,"live_writers = (live_writers-1)", 1, 2, 0);
	trans[0][112]	= settr(111,0,0,182,182,"-end-", 0, 3500, 0);
	/* np_ demon: */
	trans[_NP_] = (Trans **) emalloc(3*sizeof(Trans *));
	T = trans[_NP_][0] = settr(9997,0,1,_T5,0,"(np_)", 1,2,0);
	    T->nxt	  = settr(9998,0,0,_T2,0,"(1)",   0,2,0);
	T = trans[_NP_][1] = settr(9999,0,1,_T5,0,"(np_)", 1,2,0);
}

Trans *
settr(	int t_id, int a, int b, int c, int d,
	char *t, int g, int tpe0, int tpe1)
{	Trans *tmp = (Trans *) emalloc(sizeof(Trans));

	tmp->atom  = a&(6|32);	/* only (2|8|32) have meaning */
	if (!g) tmp->atom |= 8;	/* no global references */
	tmp->st    = b;
	tmp->tpe[0] = tpe0;
	tmp->tpe[1] = tpe1;
	tmp->tp    = t;
	tmp->t_id  = t_id;
	tmp->forw  = c;
	tmp->back  = d;
	return tmp;
}

Trans *
cpytr(Trans *a)
{	Trans *tmp = (Trans *) emalloc(sizeof(Trans));

	int i;
	tmp->atom  = a->atom;
	tmp->st    = a->st;
#ifdef HAS_UNLESS
	tmp->e_trans = a->e_trans;
	for (i = 0; i < HAS_UNLESS; i++)
		tmp->escp[i] = a->escp[i];
#endif
	tmp->tpe[0] = a->tpe[0];
	tmp->tpe[1] = a->tpe[1];
	for (i = 0; i < 6; i++)
	{	tmp->qu[i] = a->qu[i];
		tmp->ty[i] = a->ty[i];
	}
	tmp->tp    = (char *) emalloc(strlen(a->tp)+1);
	strcpy(tmp->tp, a->tp);
	tmp->t_id  = a->t_id;
	tmp->forw  = a->forw;
	tmp->back  = a->back;
	return tmp;
}

#ifndef NOREDUCE
int
srinc_set(int n)
{	if (n <= 2) return LOCAL;
	if (n <= 2+  DELTA) return Q_FULL_F; /* 's' or nfull  */
	if (n <= 2+2*DELTA) return Q_EMPT_F; /* 'r' or nempty */
	if (n <= 2+3*DELTA) return Q_EMPT_T; /* empty */
	if (n <= 2+4*DELTA) return Q_FULL_T; /* full  */
	if (n ==   5*DELTA) return GLOBAL;
	if (n ==   6*DELTA) return TIMEOUT_F;
	if (n ==   7*DELTA) return ALPHA_F;
	Uerror("cannot happen srinc_class");
	return BAD;
}
int
srunc(int n, int m)
{	switch(m) {
	case Q_FULL_F: return n-2;
	case Q_EMPT_F: return n-2-DELTA;
	case Q_EMPT_T: return n-2-2*DELTA;
	case Q_FULL_T: return n-2-3*DELTA;
	case ALPHA_F:
	case TIMEOUT_F: return 257; /* non-zero, and > MAXQ */
	}
	Uerror("cannot happen srunc");
	return 0;
}
#endif
int cnt;
#ifdef HAS_UNLESS
int
isthere(Trans *a, int b)
{	Trans *t;
	for (t = a; t; t = t->nxt)
		if (t->t_id == b)
			return 1;
	return 0;
}
#endif
#ifndef NOREDUCE
int
mark_safety(Trans *t) /* for conditional safety */
{	int g = 0, i, j, k;

	if (!t) return 0;
	if (t->qu[0])
		return (t->qu[1])?2:1;	/* marked */

	for (i = 0; i < 2; i++)
	{	j = srinc_set(t->tpe[i]);
		if (j >= GLOBAL && j != ALPHA_F)
			return -1;
		if (j != LOCAL)
		{	k = srunc(t->tpe[i], j);
			if (g == 0
			||  t->qu[0] != k
			||  t->ty[0] != j)
			{	t->qu[g] = k;
				t->ty[g] = j;
				g++;
	}	}	}
	return g;
}
#endif
void
retrans(int n, int m, int is, short srcln[], uchar reach[], uchar lpstate[])
	/* process n, with m states, is=initial state */
{	Trans *T0, *T1, *T2, *T3;
	Trans *T4, *T5; /* t_reverse or has_unless */
	int i;
#if defined(HAS_UNLESS) || !defined(NOREDUCE)
	int k;
#endif
#ifndef NOREDUCE
	int g, h, j, aa;
#endif
#ifdef HAS_UNLESS
	int p;
#endif
	if (state_tables >= 4)
	{	printf("STEP 1 %s\n", 
			procname[n]);
		for (i = 1; i < m; i++)
		for (T0 = trans[n][i]; T0; T0 = T0->nxt)
			crack(n, i, T0, srcln);
		return;
	}
	do {
		for (i = 1, cnt = 0; i < m; i++)
		{	T2 = trans[n][i];
			T1 = T2?T2->nxt:(Trans *)0;
/* prescan: */		for (T0 = T1; T0; T0 = T0->nxt)
/* choice in choice */	{	if (T0->st && trans[n][T0->st]
				&&  trans[n][T0->st]->nxt)
					break;
			}
#if 0
		if (T0)
		printf("\tstate %d / %d: choice in choice\n",
		i, T0->st);
#endif
			if (T0)
			for (T0 = T1; T0; T0 = T0->nxt)
			{	T3 = trans[n][T0->st];
				if (!T3->nxt)
				{	T2->nxt = cpytr(T0);
					T2 = T2->nxt;
					imed(T2, T0->st, n, i);
					continue;
				}
				do {	T3 = T3->nxt;
					T2->nxt = cpytr(T3);
					T2 = T2->nxt;
					imed(T2, T0->st, n, i);
				} while (T3->nxt);
				cnt++;
			}
		}
	} while (cnt);
	if (state_tables >= 3)
	{	printf("STEP 2 %s\n", 
			procname[n]);
		for (i = 1; i < m; i++)
		for (T0 = trans[n][i]; T0; T0 = T0->nxt)
			crack(n, i, T0, srcln);
		return;
	}
	for (i = 1; i < m; i++)
	{	if (trans[n][i] && trans[n][i]->nxt) /* optimize */
		{	T1 = trans[n][i]->nxt;
#if 0
			printf("\t\tpull %d (%d) to %d\n",
			T1->st, T1->forw, i);
#endif
			srcln[i] = srcln[T1->st];	/* Oyvind Teig, 5.2.0 */

			if (!trans[n][T1->st]) continue;
			T0 = cpytr(trans[n][T1->st]);
			trans[n][i] = T0;
			reach[T1->st] = 1;
			imed(T0, T1->st, n, i);
			for (T1 = T1->nxt; T1; T1 = T1->nxt)
			{
#if 0
			printf("\t\tpull %d (%d) to %d\n",
				T1->st, T1->forw, i);
#endif
		/*		srcln[i] = srcln[T1->st];  gh: not useful */
				if (!trans[n][T1->st]) continue;
				T0->nxt = cpytr(trans[n][T1->st]);
				T0 = T0->nxt;
				reach[T1->st] = 1;
				imed(T0, T1->st, n, i);
	}	}	}
	if (state_tables >= 2)
	{	printf("STEP 3 %s\n", 
			procname[n]);
		for (i = 1; i < m; i++)
		for (T0 = trans[n][i]; T0; T0 = T0->nxt)
			crack(n, i, T0, srcln);
		return;
	}
#ifdef HAS_UNLESS
	for (i = 1; i < m; i++)
	{	if (!trans[n][i]) continue;
		/* check for each state i if an
		 * escape to some state p is defined
		 * if so, copy and mark p's transitions
		 * and prepend them to the transition-
		 * list of state i
		 */
	 if (!like_java) /* the default */
	 {	for (T0 = trans[n][i]; T0; T0 = T0->nxt)
		for (k = HAS_UNLESS-1; k >= 0; k--)
		{	if (p = T0->escp[k])
			for (T1 = trans[n][p]; T1; T1 = T1->nxt)
			{	if (isthere(trans[n][i], T1->t_id))
					continue;
				T2 = cpytr(T1);
				T2->e_trans = p;
				T2->nxt = trans[n][i];
				trans[n][i] = T2;
		}	}
	 } else /* outermost unless checked first */
	 {	T4 = T3 = (Trans *) 0;
		for (T0 = trans[n][i]; T0; T0 = T0->nxt)
		for (k = HAS_UNLESS-1; k >= 0; k--)
		{	if (p = T0->escp[k])
			for (T1 = trans[n][p]; T1; T1 = T1->nxt)
			{	if (isthere(trans[n][i], T1->t_id))
					continue;
				T2 = cpytr(T1);
				T2->nxt = (Trans *) 0;
				T2->e_trans = p;
				if (T3)	T3->nxt = T2;
				else	T4 = T2;
				T3 = T2;
		}	}
		if (T4)
		{	T3->nxt = trans[n][i];
			trans[n][i] = T4;
		}
	 }
	}
#endif
#ifndef NOREDUCE
	for (i = 1; i < m; i++)
	{	if (a_cycles)
		{ /* moves through these states are visible */
	#if PROG_LAB>0 && defined(HAS_NP)
			if (progstate[n][i])
				goto degrade;
			for (T1 = trans[n][i]; T1; T1 = T1->nxt)
				if (progstate[n][T1->st])
					goto degrade;
	#endif
			if (accpstate[n][i] || visstate[n][i])
				goto degrade;
			for (T1 = trans[n][i]; T1; T1 = T1->nxt)
				if (accpstate[n][T1->st])
					goto degrade;
		}
		T1 = trans[n][i];
		if (!T1) continue;
		g = mark_safety(T1);	/* V3.3.1 */
		if (g < 0) goto degrade; /* global */
		/* check if mixing of guards preserves reduction */
		if (T1->nxt)
		{	k = 0;
			for (T0 = T1; T0; T0 = T0->nxt)
			{	if (!(T0->atom&8))
					goto degrade;
				for (aa = 0; aa < 2; aa++)
				{	j = srinc_set(T0->tpe[aa]);
					if (j >= GLOBAL && j != ALPHA_F)
						goto degrade;
					if (T0->tpe[aa]
					&&  T0->tpe[aa]
					!=  T1->tpe[0])
						k = 1;
			}	}
			/* g = 0;	V3.3.1 */
			if (k)	/* non-uniform selection */
			for (T0 = T1; T0; T0 = T0->nxt)
			for (aa = 0; aa < 2; aa++)
			{	j = srinc_set(T0->tpe[aa]);
				if (j != LOCAL)
				{	k = srunc(T0->tpe[aa], j);
					for (h = 0; h < 6; h++)
						if (T1->qu[h] == k
						&&  T1->ty[h] == j)
							break;
					if (h >= 6)
					{	T1->qu[g%6] = k;
						T1->ty[g%6] = j;
						g++;
			}	}	}
			if (g > 6)
			{	T1->qu[0] = 0;	/* turn it off */
				printf("pan: warning, line %d, ",
					srcln[i]);
			 	printf("too many stmnt types (%d)",
					g);
			  	printf(" in selection\n");
			  goto degrade;
			}
		}
		/* mark all options global if >=1 is global */
		for (T1 = trans[n][i]; T1; T1 = T1->nxt)
			if (!(T1->atom&8)) break;
		if (T1)
degrade:	for (T1 = trans[n][i]; T1; T1 = T1->nxt)
			T1->atom &= ~8;	/* mark as unsafe */
		/* can only mix 'r's or 's's if on same chan */
		/* and not mixed with other local operations */
		T1 = trans[n][i];
		if (!T1 || T1->qu[0]) continue;
		j = T1->tpe[0];
		if (T1->nxt && T1->atom&8)
		{ if (j == 5*DELTA)
		  {	printf("warning: line %d ", srcln[i]);
			printf("mixed condition ");
			printf("(defeats reduction)\n");
			goto degrade;
		  }
		  for (T0 = T1; T0; T0 = T0->nxt)
		  for (aa = 0; aa < 2; aa++)
		  if  (T0->tpe[aa] && T0->tpe[aa] != j)
		  {	printf("warning: line %d ", srcln[i]);
			printf("[%d-%d] mixed %stion ",
				T0->tpe[aa], j, 
				(j==5*DELTA)?"condi":"selec");
			printf("(defeats reduction)\n");
			printf("	'%s' <-> '%s'\n",
				T1->tp, T0->tp);
			goto degrade;
		} }
	}
#endif
	for (i = 1; i < m; i++)
	{	T2 = trans[n][i];
		if (!T2
		||  T2->nxt
		||  strncmp(T2->tp, ".(goto)", 7)
		||  !stopstate[n][i])
			continue;
		stopstate[n][T2->st] = 1;
	}
	if (state_tables && !verbose)
	{	if (dodot)
		{	char buf[256], *q = buf, *p = procname[n];
			while (*p != '\0')
			{	if (*p != ':')
				{	*q++ = *p;
				}
				p++;
			}
			*q = '\0';
			printf("digraph ");
			switch (Btypes[n]) {
			case I_PROC:  printf("init {\n"); break;
			case N_CLAIM: printf("claim_%s {\n", buf); break;
			case E_TRACE: printf("notrace {\n"); break;
			case N_TRACE: printf("trace {\n"); break;
			default:      printf("p_%s {\n", buf); break;
			}
			printf("size=\"8,10\";\n");
			printf("  GT [shape=box,style=dotted,label=\"%s\"];\n", buf);
			printf("  GT -> S%d;\n", is);
		} else
		{	switch (Btypes[n]) {
			case I_PROC:  printf("init\n"); break;
			case N_CLAIM: printf("claim %s\n", procname[n]); break;
			case E_TRACE: printf("notrace assertion\n"); break;
			case N_TRACE: printf("trace assertion\n"); break;
			default:      printf("proctype %s\n", procname[n]); break;
		}	}
		for (i = 1; i < m; i++)
		{	reach[i] = 1;
		}
		tagtable(n, m, is, srcln, reach);
		if (dodot) printf("}\n");
	} else
	for (i = 1; i < m; i++)
	{	int nrelse;
		if (Btypes[n] != N_CLAIM)
		{	for (T0 = trans[n][i]; T0; T0 = T0->nxt)
			{	if (T0->st == i
				&& strcmp(T0->tp, "(1)") == 0)
				{	printf("error: proctype '%s' ",
						procname[n]);
		  			printf("line %d, state %d: has un",
						srcln[i], i);
					printf("conditional self-loop\n");
					pan_exit(1);
		}	}	}
		nrelse = 0;
		for (T0 = trans[n][i]; T0; T0 = T0->nxt)
		{	if (strcmp(T0->tp, "else") == 0)
				nrelse++;
		}
		if (nrelse > 1)
		{	printf("error: proctype '%s' state",
				procname[n]);
		  	printf(" %d, inherits %d", i, nrelse);
		  	printf(" 'else' stmnts\n");
			pan_exit(1);
	}	}
#if !defined(LOOPSTATE) && !defined(BFS_PAR)
	if (state_tables)
#endif
	do_dfs(n, m, is, srcln, reach, lpstate);

	if (!t_reverse)
	{	return;
	}
	/* process n, with m states, is=initial state -- reverse list */
	if (!state_tables && Btypes[n] != N_CLAIM)
	{	for (i = 1; i < m; i++)
		{	Trans *Tx = (Trans *) 0; /* list of escapes */
			Trans *Ty = (Trans *) 0; /* its tail element */
			T1 = (Trans *) 0; /* reversed list */
			T2 = (Trans *) 0; /* its tail */
			T3 = (Trans *) 0; /* remembers possible 'else' */

			/* find unless-escapes, they should go first */
			T4 = T5 = T0 = trans[n][i];
	#ifdef HAS_UNLESS
			while (T4 && T4->e_trans) /* escapes are first in orig list */
			{	T5 = T4;	  /* remember predecessor */
				T4 = T4->nxt;
			}
	#endif
			/* T4 points to first non-escape, T5 to its parent, T0 to original list */
			if (T4 != T0)		 /* there was at least one escape */
			{	T3 = T5->nxt;		 /* start of non-escapes */
				T5->nxt = (Trans *) 0;	 /* separate */
				Tx = T0;		 /* start of the escapes */
				Ty = T5;		 /* its tail */
				T0 = T3;		 /* the rest, to be reversed */
			}
			/* T0 points to first non-escape, Tx to the list of escapes, Ty to its tail */

			/* first tail-add non-escape transitions, reversed */
			T3 = (Trans *) 0;
			for (T5 = T0; T5; T5 = T4)
			{	T4 = T5->nxt;
	#ifdef HAS_UNLESS
				if (T5->e_trans)
				{	printf("error: cannot happen!\n");
					continue;
				}
	#endif
				if (strcmp(T5->tp, "else") == 0)
				{	T3 = T5;
					T5->nxt = (Trans *) 0;
				} else
				{	T5->nxt = T1;
					if (!T1) { T2 = T5; }
					T1 = T5;
			}	}
			/* T3 points to a possible else, which is removed from the list */
			/* T1 points to the reversed list so far (without escapes) */
			/* T2 points to the tail element -- where the else should go */
			if (T2 && T3)
			{	T2->nxt = T3;	/* add else */
			} else
			{	if (T3) /* there was an else, but there's no tail */
				{	if (!T1)	/* and no reversed list */
					{	T1 = T3; /* odd, but possible */
					} else		/* even stranger */
					{	T1->nxt = T3;
			}	}	}

			/* add in the escapes, to that they appear at the front */
			if (Tx && Ty) { Ty->nxt = T1; T1 = Tx; }

			trans[n][i] = T1;
			/* reversed, with escapes first and else last */
	}	}
	if (state_tables && verbose)
	{	printf("FINAL proctype %s\n", 
			procname[n]);
		for (i = 1; i < m; i++)
		for (T0 = trans[n][i]; T0; T0 = T0->nxt)
			crack(n, i, T0, srcln);
	}
}
void
imed(Trans *T, int v, int n, int j)	/* set intermediate state */
{	progstate[n][T->st] |= progstate[n][v];
	accpstate[n][T->st] |= accpstate[n][v];
	stopstate[n][T->st] |= stopstate[n][v];
	mapstate[n][j] = T->st;
}
void
tagtable(int n, int m, int is, short srcln[], uchar reach[])
{	Trans *z;

	if (is >= m || !trans[n][is]
	||  is <= 0 || reach[is] == 0)
		return;
	reach[is] = 0;
	if (state_tables)
	for (z = trans[n][is]; z; z = z->nxt)
	{	if (dodot)
			dot_crack(n, is, z);
		else
			crack(n, is, z, srcln);
	}

	for (z = trans[n][is]; z; z = z->nxt)
	{
#ifdef HAS_UNLESS
		int i, j;
#endif
		tagtable(n, m, z->st, srcln, reach);
#ifdef HAS_UNLESS
		for (i = 0; i < HAS_UNLESS; i++)
		{	j = trans[n][is]->escp[i];
			if (!j) break;
			tagtable(n, m, j, srcln, reach);
		}
#endif
	}
}

extern Trans *t_id_lkup[];

void
dfs_table(int n, int m, int is, short srcln[], uchar reach[], uchar lpstate[])
{	Trans *z;

	if (is >= m || is <= 0 || !trans[n][is])
		return;
	if ((reach[is] & (4|8|16)) != 0)
	{	if ((reach[is] & (8|16)) == 16)	/* on stack, not yet recorded */
		{	lpstate[is] = 1;
			reach[is] |= 8; /* recorded */
			if (state_tables && verbose)
			{	printf("state %d line %d is a loopstate\n", is, srcln[is]);
		}	}
		return;
	}
	reach[is] |= (4|16);	/* visited | onstack */
	for (z = trans[n][is]; z; z = z->nxt)
	{	t_id_lkup[z->t_id] = z;
#ifdef HAS_UNLESS
		int i, j;
#endif
		dfs_table(n, m, z->st, srcln, reach, lpstate);
#ifdef HAS_UNLESS
		for (i = 0; i < HAS_UNLESS; i++)
		{	j = trans[n][is]->escp[i];
			if (!j) break;
			dfs_table(n, m, j, srcln, reach, lpstate);
		}
#endif
	}
	reach[is] &= ~16; /* no longer on stack */
}
void
do_dfs(int n, int m, int is, short srcln[], uchar reach[], uchar lpstate[])
{	int i;
	dfs_table(n, m, is, srcln, reach, lpstate);
	for (i = 0; i < m; i++)
		reach[i] &= ~(4|8|16);
}
void
crack(int n, int j, Trans *z, short srcln[])
{	int i;

	if (!z) return;
	printf("	state %3d -(tr %3d)-> state %3d  ",
		j, z->forw, z->st);
	printf("[id %3d tp %3d", z->t_id, z->tpe[0]);
	if (z->tpe[1]) printf(",%d", z->tpe[1]);
#ifdef HAS_UNLESS
	if (z->e_trans)
		printf(" org %3d", z->e_trans);
	else if (state_tables >= 2)
	for (i = 0; i < HAS_UNLESS; i++)
	{	if (!z->escp[i]) break;
		printf(" esc %d", z->escp[i]);
	}
#endif
	printf("]");
	printf(" [%s%s%s%s%s] %s:%d => ",
		z->atom&6?"A":z->atom&32?"D":"-",
		accpstate[n][j]?"a" :"-",
		stopstate[n][j]?"e" : "-",
		progstate[n][j]?"p" : "-",
		z->atom & 8 ?"L":"G",
		PanSource, srcln[j]);
	for (i = 0; z->tp[i]; i++)
		if (z->tp[i] == '\n')
			printf("\\n");
		else
			putchar(z->tp[i]);
	if (verbose && z->qu[0])
	{	printf("\t[");
		for (i = 0; i < 6; i++)
			if (z->qu[i])
				printf("(%d,%d)",
				z->qu[i], z->ty[i]);
		printf("]");
	}
	printf("\n");
	fflush(stdout);
}
/* spin -a m.pml; cc -o pan pan.c; ./pan -D | dot -Tps > foo.ps; ps2pdf foo.ps */
void
dot_crack(int n, int j, Trans *z)
{	int i;

	if (!z) return;
	printf("	S%d -> S%d  [color=black", j, z->st);

	if (z->atom&6) printf(",style=dashed");
	else if (z->atom&32) printf(",style=dotted");
	else if (z->atom&8) printf(",style=solid");
	else printf(",style=bold");

	printf(",label=\"");
	for (i = 0; z->tp[i]; i++)
	{	if (z->tp[i] == '\\'
		&&  z->tp[i+1] == 'n')
		{	i++; printf(" ");
		} else
		{	putchar(z->tp[i]);
	}	}
	printf("\"];\n");
	if (accpstate[n][j]) printf("  S%d [color=red,style=bold];\n", j);
	else if (progstate[n][j]) printf("  S%d [color=green,style=bold];\n", j);
	if (stopstate[n][j]) printf("  S%d [color=blue,style=bold,shape=box];\n", j);
}

#ifdef VAR_RANGES
#define BYTESIZE	32	/* 2^8 : 2^3 = 256:8 = 32 */

typedef struct Vr_Ptr {
	char	*nm;
	uchar	vals[BYTESIZE];
	struct Vr_Ptr *nxt;
} Vr_Ptr;
Vr_Ptr *ranges = (Vr_Ptr *) 0;

void
logval(char *s, int v)
{	Vr_Ptr *tmp;

	if (v<0 || v > 255) return;
	for (tmp = ranges; tmp; tmp = tmp->nxt)
		if (!strcmp(tmp->nm, s))
			goto found;
	tmp = (Vr_Ptr *) emalloc(sizeof(Vr_Ptr));
	tmp->nxt = ranges;
	ranges = tmp;
	tmp->nm = s;
found:
	tmp->vals[(v)/8] |= 1<<((v)%8);
}

void
dumpval(uchar X[], int range)
{	int w, x, i, j = -1;

	for (w = i = 0; w < range; w++)
	for (x = 0; x < 8; x++, i++)
	{
from:		if ((X[w] & (1<<x)))
		{	printf("%d", i);
			j = i;
			goto upto;
	}	}
	return;
	for (w = 0; w < range; w++)
	for (x = 0; x < 8; x++, i++)
	{
upto:		if (!(X[w] & (1<<x)))
		{	if (i-1 == j)
				printf(", ");
			else
				printf("-%d, ", i-1);
			goto from;
	}	}
	if (j >= 0 && j != 255)
		printf("-255");
}

void
dumpranges(void)
{	Vr_Ptr *tmp;
	printf("\nValues assigned within ");
	printf("interval [0..255]:\n");
	for (tmp = ranges; tmp; tmp = tmp->nxt)
	{	printf("\t%s\t: ", tmp->nm);
		dumpval(tmp->vals, BYTESIZE);
		printf("\n");
	}
}
#endif
